"""Rows of words as a recogniser might hand them over: errors, pauses, utterances that end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from earshot.language.marks.marked_words import Mark
from earshot.language.marks.pauses import EDGES_S, END, NEWEST, UNKNOWN
from earshot.training.tagger.marked_text import MarkedText
from earshot.training.tagger.recipe import SpeechConfig

Numbers = npt.NDArray[np.int64]
_NOT_ASKED = -1
_QUIET = {Mark.STOP: (0.85, 0.55), Mark.QUESTION: (0.85, 0.55), Mark.COMMA: (0.6, 0.25)}
_QUIET_ELSEWHERE = (0.08, 0.2)
"""How often readers pause after a mark, and for how many seconds in the median."""
_SPREAD = 0.6  # of the logarithm


@dataclass(frozen=True)
class SaidRows:
    """Rows (B, T). capital and mark are -1 where nobody is asked for them.

    text and segment: by number, see `TaggerNetwork.forward`.
    """

    word: Numbers
    pause: Numbers
    text: Numbers
    segment: Numbers
    capital: Numbers
    mark: Numbers


class SaidText:
    """Draws rows of several texts. What comes depends on seed and step alone."""

    def __init__(
        self, texts: Sequence[MarkedText], shares: Sequence[float], config: SpeechConfig, seed: int
    ) -> None:
        self._texts = texts
        self._starts = [np.flatnonzero(text.begins) for text in texts]
        self._shares = np.array(shares) / sum(shares)
        self._config = config
        self._seed = seed

    def rows(self, step: int, batch: int, length: int) -> SaidRows:
        """The rows of one update."""
        rng = np.random.default_rng((self._seed, step))
        chosen = rng.choice(len(self._texts), size=batch, p=self._shares)
        rows = [self._row(int(text), length, rng) for text in chosen]
        word, capital, mark, begins = (np.stack(each) for each in zip(*rows, strict=True))
        text = self._text_numbers(begins, rng)
        ends = self._ends(mark, text, rng)
        pause = np.where(ends > 0, ends, self._pauses(mark, text, rng))
        before = np.pad(ends[:, :-1] > 0, ((0, 0), (1, 0)))
        return SaidRows(word, pause, text, before.cumsum(axis=1), capital, mark)

    def _row(
        self, number: int, length: int, rng: np.random.Generator
    ) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """So many words from the beginning of a line on, with a recogniser's errors."""
        text, starts = self._texts[number], self._starts[number]
        start = int(rng.choice(starts))
        places = (start + np.arange(2 * length)) % len(text)
        config = self._config
        fate = rng.random(2 * length)
        counts = np.ones(2 * length, np.int64)
        counts[fate < config.dropped] = 0
        counts[fate > 1 - config.doubled] = 2
        kept = np.repeat(np.arange(2 * length), counts)[:length]
        word, capital = text.word[places].astype(np.int64), text.capital[places].astype(np.int64)
        mark, begins = _carried(text.mark[places], text.begins[places], counts)
        swapped = rng.random(2 * length) < config.swapped
        word[swapped] = text.word[rng.integers(0, len(text), int(swapped.sum()))]
        capital[swapped] = _NOT_ASKED
        again = np.append(kept[1:] == kept[:-1], False)
        first = np.insert(~again[:-1], 0, True)
        taken_mark = np.where(again, Mark.NONE, mark[kept])
        taken_capital = np.where(first, capital[kept], _NOT_ASKED)
        return word[kept], taken_capital, taken_mark, begins[kept] & first

    def _text_numbers(self, begins: npt.NDArray[Any], rng: np.random.Generator) -> Numbers:
        new = begins.astype(bool) & (rng.random(begins.shape) >= self._config.goes_on)
        numbers: Numbers = new.cumsum(axis=1)
        return numbers

    def _ends(self, mark: Numbers, text: Numbers, rng: np.random.Generator) -> Numbers:
        """The class of the last word of an utterance or of a partial; 0 elsewhere."""
        config = self._config
        share = np.full(mark.shape, config.ends_elsewhere)
        share[(mark == Mark.STOP) | (mark == Mark.QUESTION)] = config.ends_at_stops
        share[(mark == Mark.COMMA) | (mark == Mark.UNSURE)] = config.ends_at_commas
        over = rng.random(mark.shape) < share
        over[:, :-1] |= text[:, 1:] != text[:, :-1]
        cut = rng.random(mark.shape) < config.cut
        cut[:, -1] = True
        return np.where(over, END, np.where(cut, NEWEST, 0))

    def _pauses(self, mark: Numbers, text: Numbers, rng: np.random.Generator) -> Numbers:
        often = np.full(mark.shape, _QUIET_ELSEWHERE[0])
        median_s = np.full(mark.shape, _QUIET_ELSEWHERE[1])
        for each, (share, typical_s) in _QUIET.items():
            often[mark == each], median_s[mark == each] = share, typical_s
        quiet = rng.random(mark.shape) < often
        seconds = np.where(
            quiet,
            median_s * np.exp(_SPREAD * rng.standard_normal(mark.shape)),
            rng.uniform(0.0, 0.12, mark.shape),
        )
        classes = 1 + np.searchsorted(np.array(EDGES_S), seconds, side="right")
        known = rng.random((len(mark), int(text.max()) + 1)) >= self._config.without_pauses
        told: Numbers = np.where(np.take_along_axis(known, text, axis=1), classes, UNKNOWN)
        return told


def _carried(
    marks: npt.NDArray[Any], begins: npt.NDArray[Any], counts: Numbers
) -> tuple[Numbers, Numbers]:
    """A dropped word's mark goes to the one before it, its line's beginning to the one after."""
    mark, first = marks.astype(np.int64), begins.copy()
    for place in np.flatnonzero(counts == 0):
        if place and mark[place - 1] == Mark.NONE and not begins[place]:
            mark[place - 1] = mark[place]
        if place + 1 < len(first):
            first[place + 1] |= first[place]
    return mark, first
