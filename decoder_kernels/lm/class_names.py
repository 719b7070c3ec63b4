"""Names of classes of words, and the word that stands for each: ``<name>``.

Without torch: settings and requests are read from here.
"""

import re
from collections.abc import Iterable

CLASS_NAME = r"(?!(?:s|unk)>)[a-z0-9_-]+"
"""Between angle brackets; the start of a sentence and unknown words are none."""
_TOKEN = re.compile(f"<({CLASS_NAME})>")

MOST_CLASSES = 16
"""That a search takes."""


def class_token(name: str) -> str:
    """The word that stands for a class in a model's n-grams."""
    return f"<{name}>"


def is_class_name(name: str) -> bool:
    """Whether a class may be called so."""
    return _TOKEN.fullmatch(class_token(name)) is not None


def classes_among(words: Iterable[str]) -> list[str]:
    """The names of classes that are among words, in their order."""
    return [found[1] for word in words if (found := _TOKEN.fullmatch(word))]
