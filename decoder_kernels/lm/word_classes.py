"""Classes of words in a language model: ``call <name> at noon`` in its text, ``name`` the class.

A class is a word of the model like any other. Who asks the model says what its members are (class
n-grams; Brown 1992, section 3, and Ward & Issar 1996, A Class Based Language Model for Speech
Recognition): each costs what the class costs there, and its share of the class.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable

import numpy as np

from earshot.decoder_kernels.lm.lm_image import LmImage

CLASS_NAME = r"(?!(?:s|unk)>)[a-z0-9_-]+"
"""Between angle brackets; the start of a sentence and unknown words are none."""
_TOKEN = re.compile(f"<({CLASS_NAME})>")
_FIRST, _BEHIND = b"<", b"="


def class_token(name: str) -> str:
    """The word that stands for a class in a model's n-grams."""
    return f"<{name}>"


def is_class_name(name: str) -> bool:
    """Whether a class may be called so."""
    return _TOKEN.fullmatch(class_token(name)) is not None


def classes_among(words: Iterable[str]) -> list[str]:
    """The names of classes that are among words, in their order."""
    return [found[1] for word in words if (found := _TOKEN.fullmatch(word))]


def image_classes(image: LmImage) -> dict[str, int]:
    """An image's numbers of its classes, by their names, sorted; only words like them are read.

    Raises LmImageError for a text that is no UTF-8.
    """
    header = image.header
    by_text = np.frombuffer(image.content, "<u4", header.words, header.by_text_at)

    def text_at(place: int) -> bytes:
        return image.native.text_of(int(by_text[place]))

    places = range(header.words)
    begin, end = (bisect_left(places, sign, key=text_at) for sign in (_FIRST, _BEHIND))
    numbers = by_text[begin:end].tolist()
    found = {name: number for number in numbers for name in classes_among([image.text_of(number)])}
    return dict(sorted(found.items()))
