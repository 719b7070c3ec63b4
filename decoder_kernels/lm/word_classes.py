"""Classes of words in a language model: ``call <name> at noon`` in its text, ``name`` the class.

A class is a word of the model like any other. Who asks the model says what its members are (class
n-grams; Brown 1992, section 3, and Ward & Issar 1996, A Class Based Language Model for Speech
Recognition): each costs what the class costs there, and its share of the class.
"""

from bisect import bisect_left

import numpy as np

from earshot.decoder_kernels.lm.class_names import classes_among
from earshot.decoder_kernels.lm.lm_image import LmImage

_FIRST, _BEHIND = b"<", b"="


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
