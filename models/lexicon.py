"""The lexicon of a model with phones: a word and its phones on each line, packed."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from pathlib import Path

from models.config import PHONE_BLANK
from models.errors import TokenizerError

LEXICON_FILE = "lexicon.txt.xz"
MAX_LEXICON_BYTES = 64 * 1024 * 1024

Phones = tuple[int, ...]
"""As units of the phone head: 1 is the first phone."""


def read_lexicon_text(path: Path) -> str:
    """The text of a packed lexicon. Raises TokenizerError if it is damaged, or too large."""
    try:
        with lzma.open(path) as file:
            packed = file.read(MAX_LEXICON_BYTES + 1)
        if len(packed) > MAX_LEXICON_BYTES:
            raise TokenizerError(f"{path} unpacks to more than {MAX_LEXICON_BYTES} bytes")
        return packed.decode()
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise TokenizerError(f"cannot read the lexicon {path}: {error}") from error


def write_lexicon_text(path: Path, text: str) -> None:
    """Packs a lexicon."""
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def phone_numbers(phones: Sequence[str]) -> dict[str, int]:
    """The phones as units of the phone head."""
    return {phone: place for place, phone in enumerate(phones, start=PHONE_BLANK + 1)}


def parse_lexicon(text: str, phones: Sequence[str]) -> dict[str, tuple[Phones, ...]]:
    """The pronunciations of each word, in their order; a word may stand on several lines.

    Raises TokenizerError, naming the line, for one without phones or with others than these.
    """
    number = phone_numbers(phones)
    found: dict[str, tuple[Phones, ...]] = {}
    for place, line in enumerate(text.splitlines(), start=1):
        word, *said = line.split() or [""]
        if not said or not all(phone in number for phone in said):
            raise TokenizerError(f"lexicon, line {place}: {line!r} is no word and its phones")
        found[word] = (*found.get(word, ()), tuple(number[phone] for phone in said))
    return found
