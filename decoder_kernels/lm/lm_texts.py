"""Costs of many texts by a mix of language models, in one call."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.lm.lm_header import NO_WORD
from earshot.decoder_kernels.lm.lm_image import (
    ROOT,
    SENTENCE_END,
    SENTENCE_START,
    LmImage,
)
from earshot.decoder_kernels.native import kernels

Nats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WordTexts:
    """Texts of a small vocabulary, one after the other.

    words: what they are made of; None is a word that no model is to know. places (W,): of each
    word of each text among those. ends (T,): where in `places` each text ends.
    """

    words: Sequence[str | None]
    places: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    def closed(self) -> "WordTexts":
        """The same with the end of a sentence behind each text."""
        return WordTexts(
            (*self.words, SENTENCE_END),
            np.insert(self.places, self.ends, len(self.words)),
            self.ends + np.arange(1, len(self.ends) + 1),
        )


@dataclass(frozen=True, eq=False)
class MixedLm:
    """Models whose probabilities are mixed word by word (linear interpolation, Jelinek 1980).

    shares: of each image, above 0; together 1.
    """

    images: Sequence[LmImage]
    shares: Sequence[float]

    def costs(self, texts: WordTexts, before: Sequence[str] = (SENTENCE_START,)) -> Nats:
        """What each text costs (T,) behind the words `before`, in nats.

        A single model's are whole steps of 2^-10. What a text has in common with the beginning of
        the one before it is not looked up again.
        """
        costs = np.empty(len(texts.ends), np.float64)
        asked = self.asked(texts.words, texts.places, before)
        asked.price(np.ascontiguousarray(texts.ends, np.int64), costs)
        return costs

    def asked(
        self, words: Sequence[str | None], places: npt.NDArray[np.int64], before: Sequence[str]
    ) -> kernels.LmMixture:
        """The models with their numbers of words at `places` (W,), behind the words `before`."""
        return kernels.LmMixture(
            tuple(image.native for image in self.images),
            np.log(np.array(self.shares, np.float64)),
            np.array([_state_behind(image, before) for image in self.images], np.uint32),
            np.stack([_numbers(image, words)[places] for image in self.images]),
        )


def _numbers(image: LmImage, words: Sequence[str | None]) -> npt.NDArray[np.uint32]:
    """The image's numbers of words."""
    numbers = np.full(len(words), NO_WORD, np.uint32)
    known = [place for place, word in enumerate(words) if word is not None]
    numbers[known] = image.find_words(word for word in words if word is not None)
    return numbers


def _state_behind(image: LmImage, words: Sequence[str]) -> int:
    """The state that some words lead to; a start that the model does not know leaves none."""
    numbers = image.find_words(words).tolist()
    if words and words[0] == SENTENCE_START and numbers[0] == NO_WORD:
        numbers = numbers[1:]
    return image.state_after(numbers, ROOT)
