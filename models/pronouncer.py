"""How words are pronounced, in the phones of a model: by a lexicon, or else as they are spelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from models.config import ModelConfig
from models.errors import UnencodableText
from models.letters_to_phones import LETTERS_FILE, LettersToPhones, load_letters_to_phones
from models.lexicon import LEXICON_FILE, Phones, parse_lexicon, read_lexicon_text


class Pronouncer:
    """Pronounces words. May be called from any thread.

    lexicon: its text, taken apart when it is first needed, since servers may never need it.
    """

    def __init__(
        self, phones: Sequence[str], lexicon: str, letters: LettersToPhones | None
    ) -> None:
        self._phones = phones
        self._text = lexicon
        self._letters = letters

    def pronounce(self, word: str) -> tuple[Phones, ...]:
        """The ways to say a word, likeliest first, as units of the phone head; at least one.

        Raises UnencodableText for a word that the lexicon lacks and nobody can read out, and
        TokenizerError where the lexicon is broken.
        """
        known = self._lexicon.get(word.casefold().replace("\u2019", "'"))
        if known is not None:
            return known
        if self._letters is None:
            raise UnencodableText(word, "it is not in the model's lexicon")
        return (self._letters.pronounce(word),)

    @cached_property
    def _lexicon(self) -> Mapping[str, tuple[Phones, ...]]:
        return parse_lexicon(self._text, self._phones)


def load_pronouncer(directory: Path, config: ModelConfig) -> Pronouncer | None:
    """That of a model directory, None where there is nothing to pronounce by.

    Raises CheckpointError and TokenizerError for files that are broken.
    """
    files = [directory / name for name in (LEXICON_FILE, LETTERS_FILE)]
    if not config.phones or not any(file.is_file() for file in files):
        return None
    lexicon, letters = files
    return Pronouncer(
        config.phones,
        read_lexicon_text(lexicon) if lexicon.is_file() else "",
        load_letters_to_phones(letters, len(config.phones)) if letters.is_file() else None,
    )
