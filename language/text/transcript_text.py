"""Text as transcripts hold it."""

import re
import unicodedata
from functools import lru_cache

ENGLISH = "en"
ANY_LANGUAGE = "und"
"""The tag of BCP 47 for a language that nobody has said."""

NOT_SPOKEN = re.compile(r"[^a-z' ]+")
STRAY_APOSTROPHE = re.compile(r"(?<![a-z])'|'(?![a-z])")
FOLDED = str.maketrans(
    {"’": "'", "é": "e", "è": "e", "ê": "e", "à": "a", "â": "a", "ü": "u", "ö": "o", "ç": "c"}
)


def normalise_text(text: str, language: str = ENGLISH) -> str:
    """Lower case letters, single spaces and apostrophes within words: all we train to write.

    Of English a to z; of other languages the letters of any script, with their marks.
    """
    if language != ENGLISH:
        return letters_alone(text.lower())
    lowered = NOT_SPOKEN.sub(" ", text.lower().translate(FOLDED))
    return " ".join(STRAY_APOSTROPHE.sub(" ", lowered).split())


def lost_letters(text: str, language: str = ENGLISH) -> str:
    """The letters of a text that `normalise_text` leaves out, each once."""
    if language != ENGLISH:
        return ""
    letters = filter(is_letter, text.lower().translate(FOLDED))
    return "".join(sorted({each for each in letters if NOT_SPOKEN.match(each)}))


@lru_cache(4096)
def is_letter(symbol: str) -> bool:
    """Whether it is a letter, or a mark that belongs to one (Unicode's categories L and M)."""
    return unicodedata.category(symbol)[0] in "LM"


def letters_alone(text: str) -> str:
    """Words of any script in the case that they have, with the apostrophes within them."""
    composed = unicodedata.normalize("NFC", text).replace("’", "'")
    spoken = "".join(map(_spoken, composed)).replace("''", " ")
    return " ".join(filter(None, (word.strip("'") for word in spoken.split())))


@lru_cache(4096)
def _spoken(symbol: str) -> str:
    if is_letter(symbol) or symbol == "'":
        return symbol
    return "" if unicodedata.category(symbol) == "Cf" else " "  # joiners stand within words
