"""How words are pronounced, in the phones of a model: by a lexicon, or else as they are spelled."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from models.config import ModelConfig
from models.errors import UnencodableText
from models.letters_to_phones import LETTERS_FILE, LettersToPhones, load_letters_to_phones
from models.lexicon import LEXICON_FILE, Lexicon, Phones, read_lexicon_text


class Pronouncer:
    """Pronounces words. May be called from any thread."""

    def __init__(self, lexicon: Lexicon, letters: LettersToPhones | None) -> None:
        self._lexicon = lexicon
        self._letters = letters

    def pronounce(self, word: str) -> tuple[Phones, ...]:
        """The ways to say a word, likeliest first, as units of the phone head; at least one.

        Raises UnencodableText for a word that the lexicon lacks and nobody can read out.
        """
        known = self._lexicon.pronounce(word)
        if known:
            return known
        if self._letters is None:
            raise UnencodableText(word, "it is not in the model's lexicon")
        return (self._letters.pronounce(word),)

    def pronounce_initialism(self, word: str) -> Phones:
        """As the lexicon has it, or else letter by letter. Raises like `pronounce`."""
        known = self._lexicon.pronounce(word)
        if known:
            return known[0]
        return tuple(phone for letter in word for phone in self.pronounce(letter)[0])

    def pronounce_all(self, words: Iterable[str]) -> dict[str, tuple[Phones, ...]]:
        """`pronounce` of those words that have a pronunciation, faster than one by one."""
        known = {word: self._lexicon.pronounce(word) for word in words}
        if self._letters is not None:
            read = self._letters.read_out(word for word, said in known.items() if not said)
            known |= {word: (said,) for word, said in read.items()}
        return {word: said for word, said in known.items() if said}


def load_pronouncer(directory: Path, config: ModelConfig) -> Pronouncer | None:
    """That of a model directory, None where there is nothing to pronounce by.

    Raises CheckpointError and TokenizerError for files that are broken.
    """
    lexicon, letters = (directory / name for name in (LEXICON_FILE, LETTERS_FILE))
    if not config.phones or not (lexicon.exists() or letters.exists()):
        return None
    text = read_lexicon_text(lexicon) if lexicon.exists() else ""
    return Pronouncer(
        Lexicon(text, config.phones, str(lexicon)),
        load_letters_to_phones(letters, len(config.phones)) if letters.exists() else None,
    )
