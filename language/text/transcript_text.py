"""Text as transcripts hold it."""

import re

NOT_SPOKEN = re.compile(r"[^a-z' ]+")
STRAY_APOSTROPHE = re.compile(r"(?<![a-z])'|'(?![a-z])")
FOLDED = str.maketrans(
    {"’": "'", "é": "e", "è": "e", "ê": "e", "à": "a", "â": "a", "ü": "u", "ö": "o", "ç": "c"}
)


def normalise_text(text: str) -> str:
    """Lower case letters, single spaces and apostrophes within words: all we train to write."""
    lowered = NOT_SPOKEN.sub(" ", text.lower().translate(FOLDED))
    return " ".join(STRAY_APOSTROPHE.sub(" ", lowered).split())
