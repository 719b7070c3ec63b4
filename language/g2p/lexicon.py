"""The lexicon of a model with phones: a word and its phones on each line, packed."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from earshot.language.g2p.plain_letters import plain_letters
from earshot.models.config import PHONE_BLANK
from earshot.models.errors import TokenizerError

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


class Lexicon:
    """The pronunciations of words, by lines of a word and its phones; letter case is no matter.

    Its lines are checked at once, and sorted by word when one is first asked for.

    Raises TokenizerError, naming the line, for one without phones or with others than `phones`.
    """

    def __init__(self, text: str, phones: Sequence[str], name: str = "lexicon") -> None:
        self._name = name
        self._number = phone_numbers(phones)
        self._lines = text.replace("\t", " ").splitlines()
        said = [line.partition(" ")[2].strip() for line in self._lines]
        if not all(said) or not self._number.keys() >= set(" ".join(said).split()):
            self._name_broken_line()

    def _name_broken_line(self) -> None:
        for place, line in enumerate(self._lines, start=1):
            said = set(line.partition(" ")[2].split())
            if not said or not self._number.keys() >= said:
                raise TokenizerError(
                    f"{self._name}, line {place}: {line!r} is no word and its phones"
                )

    @cached_property
    def _said(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for line in self._lines:
            word, _, said = line.partition(" ")
            found.setdefault(word.casefold(), []).append(said)
        return found

    def pronounce(self, word: str) -> tuple[Phones, ...]:
        """Pronunciations of a word, or else without its accents, in the order of the lines."""
        lines = self._said.get(word.casefold()) or self._said.get(plain_letters(word)) or ()
        return tuple(tuple(self._number[phone] for phone in line.split()) for line in lines)
