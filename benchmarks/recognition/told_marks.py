"""Capitals and marks that are told of recordings, beside those of the text that was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from benchmarks.wfst.word_errors import WordErrors
from earshot.language.marks.marked_words import Capital, Mark, MarkedWord, marked_words
from earshot.language.marks.pauses import END, UNKNOWN, pause_classes
from earshot.language.marks.word_tagger import Tag
from earshot.service.library.utterance import Utterance
from earshot.training.tagger.scores import KINDS, Scores

NOTHING = Tag(Capital.LOWER, Mark.NONE)

TaggedWord: TypeAlias = tuple[str, Tag]


class Told:
    """What one way tells of all recordings."""

    def __init__(self) -> None:
        self._scores = Scores()
        self._read: list[str] = []
        self._heard: list[str] = []

    def note(
        self, true: Sequence[MarkedWord], told: Sequence[TaggedWord], forms: Mapping[str, str]
    ) -> None:
        """Compare a recording's words."""
        aligned = list(pairs(true, told))
        self._scores.note([word for word, _ in aligned], [tag for _, tag in aligned], forms)
        self._read.append(" ".join(word.text for word in true))
        self._heard.append(" ".join(text for text, _ in told))

    def columns(self) -> list[str]:
        """Word errors in percent, and F1 of each kind."""
        errors = WordErrors.of(self._read, self._heard).percent
        return [f"{errors:.1f}", *(f"{self._scores.f1[kind]:.2f}" for kind in KINDS)]


def tagged(words: Sequence[MarkedWord]) -> list[TaggedWord]:
    """Words as they are written."""
    return [(word.text, Tag(word.capital, word.mark)) for word in words]


def keys(utterance: Utterance) -> list[tuple[str, int]]:
    """What the tagger is asked of an utterance: its words, and the pause after each."""
    asked: list[tuple[str, int]] = []
    classes = pause_classes([(word.start_s, word.end_s) for word in utterance.words], END)
    for word, pause in zip(utterance.words, classes, strict=True):
        parts = [part.text for part in marked_words(word.text)]
        asked += zip(parts, [UNKNOWN] * (len(parts) - 1) + [pause], strict=False)
    return asked


def pairs(
    true: Sequence[MarkedWord], told: Sequence[TaggedWord]
) -> Iterator[tuple[MarkedWord, Tag]]:
    """Words that were read beside tags of those that were heard in their place.

    What was heard in place of nothing, or not at all, has a partner without capital and mark.
    """
    texts = [text for text, _ in told]
    blocks = SequenceMatcher(None, [word.text for word in true], texts, autojunk=False)
    for _, a, a_end, b, b_end in blocks.get_opcodes():
        for place in range(max(a_end - a, b_end - b)):
            word = true[a + place] if a + place < a_end else None
            text, tag = told[b + place] if b + place < b_end else ("", NOTHING)
            yield word or MarkedWord(text, text, Capital.LOWER, Mark.NONE), tag
