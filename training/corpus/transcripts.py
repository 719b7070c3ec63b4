"""Transcripts, from how a corpus writes them to how a run learns them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from earshot.language.text.transcript_text import lost_letters, normalise_text
from earshot.training.errors import CorpusError

MOST_LOSING = 0.1
"""The share of transcripts that may lose letters; where more do the language is another one."""


class LostLetters(UserWarning):
    """Some transcripts have letters that the recipe's language has not."""


def transcripts(source: Path, written: Sequence[str], language: str) -> list[str]:
    """The texts of a manifest or folder, normalised.

    Warns LostLetters where some lose letters by it, and raises CorpusError where many do.
    """
    losing = [text for text in written if lost_letters(text, language)]
    if losing:
        count = sum(map(bool, written))
        told = _told(source, losing, count, language)
        if len(losing) > MOST_LOSING * count:
            raise CorpusError(f"{told}: [network] language says which language it is")
        warnings.warn(told, LostLetters, stacklevel=2)
    return [normalise_text(text, language) for text in written]


def _told(source: Path, losing: Sequence[str], count: int, language: str) -> str:
    letters = " ".join(lost_letters(losing[0], language)[:8])
    return (
        f"{source}: {len(losing)} of {count} transcripts lose letters that {language!r} has not, "
        f"such as {letters} of {losing[0][:60]!r}"
    )
