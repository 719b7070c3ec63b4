"""G2P in the phones of a model: by a lexicon, or for what it lacks (OOV) by the letters."""

from __future__ import annotations

from collections.abc import Iterable

from earshot.language.g2p.letters_to_phones import (
    LETTERS_FILE,
    LettersToPhones,
    load_letters_to_phones,
)
from earshot.language.g2p.lexicon import LEXICON_FILE, Lexicon, Phones, read_lexicon_text
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.errors import UnencodableText


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
        """Pronounce a word as the lexicon has it, or else by letter. Raises like `pronounce`."""
        known = self._lexicon.pronounce(word)
        if known:
            return known[0]
        return tuple(phone for letter in word for phone in self.pronounce(letter)[0])

    def ways(self, words: Iterable[str]) -> dict[str, tuple[Phones, ...]]:
        """`pronounce_all` with all likely ways to say a word that the lexicon lacks."""
        known, unknown = self._looked_up(words)
        return known if self._letters is None else known | self._letters.ways(unknown)

    def pronounce_all(self, words: Iterable[str]) -> dict[str, tuple[Phones, ...]]:
        """`pronounce` of those words that have a pronunciation, faster than one by one."""
        known, unknown = self._looked_up(words)
        read = {} if self._letters is None else self._letters.read_out(unknown)
        return known | {word: (said,) for word, said in read.items()}

    def _looked_up(self, words: Iterable[str]) -> tuple[dict[str, tuple[Phones, ...]], list[str]]:
        """Pronunciations of the lexicon, and the words that it lacks."""
        found = {word: self._lexicon.pronounce(word) for word in words}
        known = {word: said for word, said in found.items() if said}
        return known, [word for word in found if word not in known]


def pronouncer_of(loaded: LoadedModel) -> Pronouncer | None:
    """By what lies beside the model, None where there is nothing to pronounce by.

    Raises CheckpointError and TokenizerError for files that are broken.
    """
    if loaded.directory is None or loaded.ctc is None:
        return None
    phones = loaded.ctc.phones
    lexicon, letters = (loaded.directory / name for name in (LEXICON_FILE, LETTERS_FILE))
    if not phones or not (lexicon.exists() or letters.exists()):
        return None
    text = read_lexicon_text(lexicon) if lexicon.exists() else ""
    return Pronouncer(
        Lexicon(text, phones, str(lexicon)),
        load_letters_to_phones(letters, len(phones)) if letters.exists() else None,
    )
