"""Letters as a model of plain English writes them: without case, accents and ligatures."""

from __future__ import annotations

import unicodedata

# Which Unicode does not take apart.
_LETTERS = str.maketrans(
    {"’": "'", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)


def plain_letters(text: str) -> str:
    """`text` in lower case, letters without their marks; other signs stay."""
    apart = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(sign for sign in apart if not unicodedata.combining(sign))
