"""Words of a hypothesis where their tokens are, in files of any length."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from earshot.decoder_kernels.alignment import align
from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis
from earshot.streaming.words.graph_words import SpelledWord, joined, spaces

WORDS_AT_ONCE = 100
"""An alignment takes memory for frames times tokens: so many words of a long file at a time."""
WORDS_AHEAD = 20
"""Words that are aligned besides, and again with those that follow them."""


@dataclass(frozen=True, eq=False)
class PlacedWords:
    """A hypothesis over log-probabilities `(T, V)`, its words spelled.

    separator: the token between words, where the model writes one.
    """

    found: WfstHypothesis
    spelled: Sequence[SpelledWord]
    log_probs: Tensor
    blank_id: int
    separator: int | None

    @cached_property
    def _spaces(self) -> list[bool]:
        return spaces([word.text for word in self.spelled])

    @cached_property
    def text(self) -> str:
        """The words as the graph writes them."""
        return joined([word.text for word in self.spelled])

    @cached_property
    def frames(self) -> list[list[int]]:
        """The frames of each word's tokens, the separator before it left out."""
        placed: list[list[int]] = []
        since = 0
        while len(placed) < len(self.spelled):
            found = list(self._from(len(placed), since))
            kept = found[:WORDS_AT_ONCE]
            placed += kept
            since = kept[-1][-1] + 1
        return placed

    @cached_property
    def token_confidences(self) -> list[float]:
        """The geometric mean of each word's tokens' probabilities."""
        means = []
        for word, frames in zip(self.spelled, self.frames, strict=True):
            logs: list[float] = self.log_probs[frames, list(word.tokens)].tolist()
            means.append(math.exp(sum(logs) / len(logs)))
        return means

    def _from(self, first: int, since: int) -> Iterator[list[int]]:
        """Words from the first that is not placed, in the frames that are free."""
        stop = first + WORDS_AT_ONCE + WORDS_AHEAD
        # A word leaves the graph at one of its tokens: by then those before it are over.
        until = self.found.frames[stop] + 1 if stop < len(self.spelled) else len(self.log_probs)
        runs = [self._tokens(word) for word in range(first, min(stop, len(self.spelled)))]
        tokens = list(itertools.chain.from_iterable(runs))
        frames = iter(align(self.log_probs[since:until], tokens, self.blank_id))
        last = len(self.log_probs) - 1
        for word, run in enumerate(runs, first):
            at = [min(since + next(frames), last) for _ in run]
            yield at[self._is_parted(word) :]

    def _tokens(self, word: int) -> tuple[int, ...]:
        tokens = self.spelled[word].tokens
        if self.separator is not None and self._is_parted(word):
            return (self.separator, *tokens)
        return tokens

    def _is_parted(self, word: int) -> bool:
        return self._spaces[word] and self.separator is not None
