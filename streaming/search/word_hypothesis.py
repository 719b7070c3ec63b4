"""A sequence of words that a graph search has found, in the model's units and with times."""

import itertools
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
from earshot.streaming.words.graph_words import SpelledWord, joined, spaces


@dataclass(frozen=True)
class PlacedTokens:
    """The first tokens of a segment, where a partial has put them: their words are stable.

    What comes later is looked for after them, so that a partial costs what is new in it. words:
    their ids. frames and log_probs: of each token.
    """

    words: tuple[int, ...] = ()
    frames: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()

    @property
    def until(self) -> int:
        """The first frame that is free."""
        return self.frames[-1] + 1 if self.frames else 0

    def begin(self, words: tuple[int, ...]) -> bool:
        """Whether these are the first of some words."""
        return words[: len(self.words)] == self.words


NOTHING_PLACED = PlacedTokens()


class SegmentPosteriors:
    """CTC log-probabilities of a segment as it is now, computed when they are first looked at.

    since: the first of its frames that is looked at.
    """

    def __init__(self, network: CtcNetwork, segment: Segment, since: int = 0) -> None:
        self._network = network
        self._segment = segment
        self._since = since

    @cached_property
    def _log_probs(self) -> Tensor:
        """(T - since, V)."""
        memory = self._segment.memory()[self._since :]
        return self._network.ctc_log_probs(memory).float()

    def place(self, tokens: Sequence[int]) -> list[int]:
        """The frame of each token, by alignment."""
        if not tokens:
            return []
        frames = align(self._log_probs, tokens, self._network.blank_id)
        return [self._since + frame for frame in frames]

    def at(self, frames: Sequence[int], tokens: Sequence[int]) -> list[float]:
        """The log-probability of each token in its frame."""
        if not tokens:
            return []
        rows = [frame - self._since for frame in frames]
        found: list[float] = self._log_probs[rows, list(tokens)].tolist()
        return found


@dataclass(frozen=True)
class WordHypothesis:
    """Words, spelled. Their tokens' times are looked for in the segment when they are asked for.

    The search itself says only when a word left the graph, which may be at any of its tokens.
    spelled: what each is told as, several words if it is a member of a class that has them.
    boosted, read_out, classes: of each, see `SpokenWord`. lattice: of the alternatives, where the
    segment ends. placed: what it begins with; posteriors begin after it. lm_cost: what the language
    models that the stream names add to its cost, in nats.
    """

    found: WfstHypothesis
    spelled: tuple[tuple[SpelledWord, ...], ...]
    boosted: tuple[bool, ...]
    read_out: tuple[bool, ...]
    classes: tuple[str | None, ...]
    separator: int | None
    posteriors: SegmentPosteriors
    lattice: SegmentLattice | None = None
    placed: PlacedTokens = NOTHING_PLACED
    lm_cost: float = 0.0
    ends = None

    @property
    def score(self) -> float:
        """The score of the search, and of language models."""
        return -(self.found.cost + self.lm_cost)

    @cached_property
    def _told(self) -> list[SpelledWord]:
        return list(itertools.chain.from_iterable(self.spelled))

    @cached_property
    def _spaces(self) -> list[bool]:
        return spaces([word.text for word in self._told])

    @cached_property
    def text(self) -> str:
        """The words as the graph writes them."""
        return joined([word.text for word in self._told])

    @cached_property
    def tokens(self) -> tuple[int, ...]:
        """Where the model has a token for a space, it stands between words."""
        tokens: list[int] = []
        for space, word in zip(self._spaces, self._told, strict=True):
            if space and self.separator is not None:
                tokens.append(self.separator)
            tokens.extend(word.tokens)
        return tuple(tokens)

    @cached_property
    def words(self) -> Sequence[SpokenWord]:
        """Each where its own tokens are."""
        found: list[SpokenWord] = []
        stop = 0
        flags = zip(self.boosted, self.read_out, self.classes, strict=True)
        for told, (boosted, read_out, word_class) in zip(self.spelled, flags, strict=True):
            for place, word in enumerate(told):
                first = stop + (self._spaces[len(found)] and self.separator is not None)
                stop = first + len(word.tokens)
                spoken = SpokenWord(
                    word.text, first, stop, boosted, read_out,
                    word_class=word_class, goes_on=place > 0,
                )  # fmt: skip
                found.append(spoken)
        return found

    def num_told(self, count: int) -> int:
        """What the first `count` words of the search are told as, in words."""
        return sum(map(len, self.spelled[:count]))

    @cached_property
    def stops(self) -> list[int]:
        """The place behind the last token of each word of the search."""
        ends = itertools.accumulate(map(len, self.spelled))
        return [self.words[end - 1].stop for end in ends]

    @cached_property
    def word_confidences(self) -> Sequence[float] | None:
        """By the lattice, if there is one: all words that one of the search is told as alike."""
        sure = None if self.lattice is None else self.lattice.confidences(self.found)
        if sure is None:
            return None
        pairs = zip(sure, self.spelled, strict=True)
        return [each for each, told in pairs for _ in told]

    @cached_property
    def frames(self) -> Sequence[int]:
        """By alignment with the segment."""
        known = self.placed.frames
        return [*known, *self.posteriors.place(self.tokens[len(known) :])]

    @cached_property
    def token_log_probs(self) -> Sequence[float]:
        """At these frames."""
        known = self.placed.log_probs
        new = slice(len(known), None)
        return [*known, *self.posteriors.at(self.frames[new], self.tokens[new])]

    @property
    def is_placed(self) -> bool:
        """Whether anybody has asked for times and probabilities."""
        return "frames" in self.__dict__ and "token_log_probs" in self.__dict__

    def first_placed(self, count: int) -> PlacedTokens:
        """The first `count` words of the search where they are now."""
        stop = self.stops[count - 1] if count else 0
        return PlacedTokens(
            self.found.words[:count],
            tuple(self.frames[:stop]),
            tuple(self.token_log_probs[:stop]),
        )
