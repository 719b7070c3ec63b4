"""Marks among a transducer's labels: they come late, and belong to the word before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from earshot.models.tokenizers.word_spans import WORD_START
from earshot.streaming.transducer.transcript import Transcript

STOPS = frozenset(".,?!;:…。，？！；：、।")


class Marks:
    """The units that are marks alone, of a model that writes some: `ids`.

    A transducer may find a full stop only with the next word, seconds later: a word would last as
    long, and an utterance begin with the mark of the one before.
    """

    def __init__(self, symbols: Sequence[str]) -> None:
        self.ids = frozenset(
            unit for unit, symbol in enumerate(symbols) if _is_mark(symbol.replace(WORD_START, ""))
        )

    def placed(self, found: Transcript) -> Transcript:
        """The labels with marks where the label before them is; none before all others."""
        if self.ids.isdisjoint(found.tokens):
            return found
        said = (place for place, token in enumerate(found.tokens) if token not in self.ids)
        told = found.labels_from(next(said, len(found.tokens)))
        frames, ends = list(told.frames), list(told.ends)
        for place, token in enumerate(told.tokens):
            if token in self.ids:
                frames[place], ends[place] = frames[place - 1], ends[place - 1]
        return replace(told, frames=tuple(frames), ends=tuple(ends))


def _is_mark(text: str) -> bool:
    return text != "" and STOPS.issuperset(text)
