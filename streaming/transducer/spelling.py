"""Labels of a transducer as what is told of a segment: words, a best one, alternatives."""

from __future__ import annotations

from collections.abc import Iterable

from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.results.hypothesis import Best, Hypothesis, TokenHypothesis
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.transducer.marks import Marks
from earshot.streaming.transducer.transcript import Transcript


class Spelling:
    """Words of labels; `marks` are told where the words before them are."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.marks = Marks(tokenizer.units.symbols)
        self._tokenizer = tokenizer

    def heard(self, found: Transcript, stream: ActiveStream) -> TokenHypothesis:
        """Every label where it was found."""
        return TokenHypothesis(found, self._tokenizer, stream.boosts)

    def told(self, found: Transcript, stream: ActiveStream) -> TokenHypothesis:
        """Marks with the words before them."""
        return self.heard(self.marks.placed(found), stream)

    def boosted_labels(self, found: Transcript, stream: ActiveStream) -> int:
        """How many labels there are up to the end of the last boosted word."""
        words = self.heard(found, stream).words
        return max((word.stop for word in words if word.boosted), default=0)

    def best(self, found: Transcript, stable: int, stream: ActiveStream) -> Best:
        """With so many first labels stable, of which those count that are told."""
        placed = self.marks.placed(found)
        left_out = len(found.tokens) - len(placed.tokens)
        return self.heard(placed, stream).with_stable(max(stable - left_out, 0))

    def alternatives(self, ranked: Iterable[Transcript], stream: ActiveStream) -> list[Hypothesis]:
        """All that differ in their texts, in their order; but the first only those with words."""
        told: dict[str, TokenHypothesis] = {}
        for found in ranked:
            spelled = self.told(found.closed, stream)
            told.setdefault(spelled.text, spelled)
        first, *others = told.values()
        return [first, *(each for each in others if each.text)]
