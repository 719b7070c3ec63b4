"""What a search has heard in a segment: the same face whichever search it was."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from earshot.decoder_kernels.lm.lm_texts import WordClass
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.boosting.boosting import CompiledBoosts


@dataclass(frozen=True)
class SpokenWord:
    """A word, and its tokens' place in the hypothesis: from `first` on, before `stop`.

    `boosted`: complete boosted phrases of positive weight cover it; `read_out`: all of them are
    said otherwise than the request wrote them.
    `written`: as people write it here, with its capitals and the mark after it; None where nobody
    has said so. `word_class`: whose member it was heard as, of a language model's classes.
    `goes_on`: the member that the word before began.
    """

    text: str
    first: int
    stop: int
    boosted: bool
    read_out: bool = False
    written: str | None = None
    word_class: str | None = None
    goes_on: bool = False

    @property
    def asked(self) -> str | WordClass:
        """The word or class that a language model goes on behind."""
        return self.text if self.word_class is None else WordClass(self.word_class)

    @property
    def is_named(self) -> bool:
        """Whether the request named it, as a phrase to favour or as a member of a class."""
        return self.boosted or self.word_class is not None

    @property
    def by_itself(self) -> "SpokenWord":
        """Without the beginning of the member that it goes on, of which it is none then."""
        return replace(self, word_class=None, goes_on=False) if self.goes_on else self


class Hypothesis(Protocol):
    """Tokens with the words that they spell.

    `frames`, `ends` and `token_log_probs` may take time to find.

    `score` is the first pass's, boost included, as a natural logarithm.
    """

    @property
    def tokens(self) -> tuple[int, ...]:
        """What the attention decoder is asked about."""

    @property
    def score(self) -> float:
        """The score by which it is ranked."""

    @property
    def text(self) -> str:
        """The text as people write it."""

    @property
    def words(self) -> Sequence[SpokenWord]:
        """In order; a token may belong to none."""

    @property
    def word_confidences(self) -> Sequence[float] | None:
        """How sure the search is of each word; None where it knows no more than their tokens."""

    @property
    def frames(self) -> Sequence[int]:
        """The segment's frame that emitted each token."""

    @property
    def ends(self) -> Sequence[int] | None:
        """The segment's frame after the last of each token; None where only `frames` are known."""

    @property
    def token_log_probs(self) -> Sequence[float]:
        """Each token's log-posterior there."""


@dataclass(frozen=True)
class Best:
    """A search's best hypothesis now; its first `stable_words` words will not change."""

    hypothesis: Hypothesis
    stable_words: int


class FoundTokens(Protocol):
    """What a search without words has found; see `Hypothesis`."""

    @property
    def tokens(self) -> tuple[int, ...]:
        """Without blanks."""

    @property
    def score(self) -> float:
        """The score by which it is ranked."""

    @property
    def frames(self) -> Sequence[int]:
        """The segment's frame that emitted each."""

    @property
    def ends(self) -> Sequence[int] | None:
        """The segment's frame after the last of each; None of CTC, which knows spikes alone."""

    @property
    def token_log_probs(self) -> Sequence[float]:
        """Each one's log-posterior there."""


@dataclass(frozen=True)
class TokenHypothesis:
    """Tokens as a hypothesis; the tokenizer knows what they spell."""

    found: FoundTokens
    tokenizer: Tokenizer
    boosts: CompiledBoosts
    word_confidences = None

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens of the search."""
        return self.found.tokens

    @property
    def score(self) -> float:
        """The score of the search."""
        return self.found.score

    @property
    def frames(self) -> Sequence[int]:
        """The frames of the search's tokens."""
        return self.found.frames

    @property
    def ends(self) -> Sequence[int] | None:
        """The ends of the search's tokens."""
        return self.found.ends

    @property
    def token_log_probs(self) -> Sequence[float]:
        """The log-probabilities of the search's tokens."""
        return self.found.token_log_probs

    @cached_property
    def text(self) -> str:
        """Spelled by the tokenizer."""
        return self.tokenizer.decode(self.tokens)

    @cached_property
    def words(self) -> Sequence[SpokenWord]:
        """Separated by the tokenizer."""
        covered = self.boosts.covered(self.tokens)
        read_out = self.boosts.read_out(self.tokens)
        return [
            SpokenWord(
                text, first, stop, self._is_boosted(first, stop, covered), any(read_out[first:stop])
            )
            for text, first, stop in self.tokenizer.word_spans(self.tokens)
        ]

    def _is_boosted(self, first: int, stop: int, covered: Sequence[bool]) -> bool:
        """Whether all of a word is covered, but for marks that the model has put behind it."""
        while stop > first + 1 and not covered[stop - 1] and self._is_mark(stop - 1):
            stop -= 1
        return all(covered[first:stop])

    def _is_mark(self, place: int) -> bool:
        text = self.tokenizer.decode(self.tokens[place : place + 1])
        return not any(map(str.isalnum, text))

    def with_stable(self, tokens: int) -> Best:
        """The best of a search whose hypotheses all begin with the same `tokens` tokens.

        No further token can touch the words before the last one begun there.
        """
        begun = sum(word.first < tokens for word in self.words)
        return Best(self, max(begun - 1, 0))
