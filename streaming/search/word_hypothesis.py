"""A sequence of words that a graph search has found, in the model's units and with times."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from earshot.decoder_kernels.alignment import align
from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis
from earshot.streaming.results.hypothesis import SpokenWord
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.graph_confidence import SegmentLattice
from earshot.streaming.stream.segment import Segment
from earshot.streaming.words.graph_words import SpelledWord, spaces


class SegmentPosteriors:
    """CTC log-probabilities of a segment as it is now, computed when they are first looked at."""

    def __init__(self, network: CtcNetwork, segment: Segment) -> None:
        self._network = network
        self._segment = segment

    @cached_property
    def log_probs(self) -> Tensor:
        """(T, V)."""
        return self._network.ctc_log_probs(self._segment.memory()).float()

    def place(self, tokens: Sequence[int]) -> list[int]:
        """The frame of each token, by alignment."""
        return align(self.log_probs, tokens, self._network.blank_id) if tokens else []


@dataclass(frozen=True)
class WordHypothesis:
    """Words, spelled. Their tokens' times are looked for in the segment when they are asked for.

    The search itself says only when a word left the graph, which may be at any of its tokens.
    boosted, read_out: see `SpokenWord`. lattice: of the alternatives, where the segment ends.
    """

    found: WfstHypothesis
    spelled: tuple[SpelledWord, ...]
    boosted: tuple[bool, ...]
    read_out: tuple[bool, ...]
    separator: int | None
    posteriors: SegmentPosteriors
    lattice: SegmentLattice | None = None

    @property
    def score(self) -> float:
        """As found."""
        return -self.found.cost

    @cached_property
    def _spaces(self) -> list[bool]:
        return spaces([word.text for word in self.spelled])

    @cached_property
    def text(self) -> str:
        """The words as the graph writes them."""
        return "".join(
            " " * space + word.text for space, word in zip(self._spaces, self.spelled, strict=True)
        )

    @cached_property
    def tokens(self) -> tuple[int, ...]:
        """Where the model has a token for a space, it stands between words."""
        tokens: list[int] = []
        for space, word in zip(self._spaces, self.spelled, strict=True):
            if space and self.separator is not None:
                tokens.append(self.separator)
            tokens.extend(word.tokens)
        return tuple(tokens)

    @cached_property
    def words(self) -> Sequence[SpokenWord]:
        """Each where its own tokens are."""
        found: list[SpokenWord] = []
        first = 0
        flags = zip(self.boosted, self.read_out, strict=True)
        for space, word, flag in zip(self._spaces, self.spelled, flags, strict=True):
            first += space and self.separator is not None
            stop = first + len(word.tokens)
            found.append(SpokenWord(word.text, first, stop, *flag))
            first = stop
        return found

    @cached_property
    def word_confidences(self) -> Sequence[float] | None:
        """By the lattice, if there is one."""
        return None if self.lattice is None else self.lattice.confidences(self.found)

    @cached_property
    def frames(self) -> Sequence[int]:
        """By alignment with the segment."""
        return self.posteriors.place(self.tokens)

    @cached_property
    def token_log_probs(self) -> Sequence[float]:
        """At these frames."""
        if not self.tokens:
            return []
        found: list[float] = self.posteriors.log_probs[self.frames, list(self.tokens)].tolist()
        return found
