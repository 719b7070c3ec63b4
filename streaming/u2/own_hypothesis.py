"""Words that the second pass has found itself, as a hypothesis with times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from earshot.models.errors import UnencodableText
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.whisper_decoder.pen import WrittenWord
from earshot.streaming.results.hypothesis import SpokenWord
from earshot.streaming.search.word_hypothesis import SegmentPosteriors
from earshot.streaming.words.graph_words import joined


@dataclass(frozen=True)
class OwnHypothesis:
    """See `Hypothesis`. Times are looked for in the segment, when they are asked for."""

    tokens: tuple[int, ...]
    words: Sequence[SpokenWord]
    score: float
    word_confidences: Sequence[float] | None
    posteriors: SegmentPosteriors = field(repr=False)
    ends = None

    @property
    def text(self) -> str:
        """The words as the first pass would write them."""
        return joined([word.text for word in self.words])

    @property
    def frames(self) -> Sequence[int]:
        """By alignment with the segment."""
        return self.posteriors.place(self.tokens)

    @property
    def token_log_probs(self) -> Sequence[float]:
        """At these frames."""
        return self.posteriors.at(self.frames, self.tokens)


def own_hypothesis(
    written: Sequence[WrittenWord],
    boosted: Sequence[SpokenWord | None],
    score: float,
    confidences: Sequence[float],
    tokenizer: Tokenizer,
    posteriors: SegmentPosteriors,
) -> OwnHypothesis | None:
    """The hypothesis of some words; None where the model's tokens cannot spell one.

    boosted: the first pass's word in the place of each, for what it says of boosts.
    """
    tokens: list[int] = []
    words: list[SpokenWord] = []
    try:
        for place, (word, heard) in enumerate(zip(written, boosted, strict=True)):
            if place and tokenizer.separator is not None:
                tokens.append(tokenizer.separator)
            first = len(tokens)
            tokens.extend(tokenizer.encode(word.bare))
            flags = (heard.boosted, heard.read_out) if heard is not None else (False, False)
            words.append(SpokenWord(word.bare, first, len(tokens), *flags, written=word.form))
    except UnencodableText:
        return None
    return OwnHypothesis(tuple(tokens), words, score, confidences, posteriors)
