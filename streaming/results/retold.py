"""A hypothesis whose words are told otherwise, or written: what taggers leave."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from earshot.streaming.results.hypothesis import Hypothesis, SpokenWord


def retold(hypothesis: Hypothesis, texts: Sequence[str]) -> Hypothesis:
    """The hypothesis with another text for each of its words; tokens, times and scores stay.

    A word whose text is another loses its written form, which was the old one's.
    """
    words = [_told(word, text) for word, text in zip(hypothesis.words, texts, strict=True)]
    return _Retold(hypothesis, words)


def _told(word: SpokenWord, text: str) -> SpokenWord:
    return word if word.text == text else replace(word, text=text, written=None)


def written_as(hypothesis: Hypothesis, written: Sequence[str | None]) -> Hypothesis:
    """The hypothesis with a written form beside each of its words; their texts stay as heard."""
    words = [
        replace(word, written=form) for word, form in zip(hypothesis.words, written, strict=True)
    ]
    return _Retold(hypothesis, words)


@dataclass(frozen=True)
class _Retold:
    """See `Hypothesis`."""

    heard: Hypothesis
    words: Sequence[SpokenWord]

    @cached_property
    def text(self) -> str:
        """The heard text with its words replaced; what stands between them stays."""
        parts, rest = [], self.heard.text
        for before, now in zip(self.heard.words, self.words, strict=True):
            between, _, rest = rest.partition(before.text)
            parts += [between, now.text]
        return "".join([*parts, rest])

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens heard."""
        return self.heard.tokens

    @property
    def score(self) -> float:
        """The first pass's score."""
        return self.heard.score

    @property
    def word_confidences(self) -> Sequence[float] | None:
        """The search's confidences of the words heard."""
        return self.heard.word_confidences

    @property
    def frames(self) -> Sequence[int]:
        """The frames of the tokens heard."""
        return self.heard.frames

    @property
    def ends(self) -> Sequence[int] | None:
        """The ends of the tokens heard."""
        return self.heard.ends

    @property
    def token_log_probs(self) -> Sequence[float]:
        """The log-posteriors of the tokens heard."""
        return self.heard.token_log_probs
