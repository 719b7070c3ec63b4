"""Files in the format of the CMU dictionary, without the marks of stress."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from earshot.training.errors import CorpusError

STRESS = re.compile(r"\d$")
VARIANT = re.compile(r"\(\d+\)$")

Sounds = tuple[str, ...]


def read_pronunciations(path: Path) -> dict[str, tuple[Sounds, ...]]:
    """Words without upper case and all that is said for them, likeliest first.

    Raises CorpusError if there is no such file of text, or no pronunciation in it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
    found: dict[str, tuple[Sounds, ...]] = {}
    for line in lines:
        word, *phones = ([] if line.startswith(";;;") else line.split("#")[0].split()) or [""]
        if phones:
            word = VARIANT.sub("", word).lower()  # as transcripts are
            said = tuple(STRESS.sub("", phone) for phone in phones)
            found[word] = tuple(dict.fromkeys((*found.get(word, ()), said)))
    if not found:
        raise CorpusError(f"{path} holds no pronunciation")
    return found


def read_lexicon(path: Path) -> dict[str, Sounds]:
    """Words and the likeliest that is said for each. Raises CorpusError like the above."""
    return {word: said[0] for word, said in read_pronunciations(path).items()}


def phone_names(lexicon: Mapping[str, Sounds]) -> Sounds:
    """The phones of a lexicon in alphabetical order."""
    return tuple(sorted({phone for said in lexicon.values() for phone in said}))


def lexicon_text(pronunciations: Mapping[str, tuple[Sounds, ...]]) -> str:
    """A word and its phones on each line, as a model keeps them (`language/g2p/lexicon.py`)."""
    return "".join(
        f"{word} {' '.join(phones)}\n"
        for word, said in sorted(pronunciations.items())
        for phones in said
    )
