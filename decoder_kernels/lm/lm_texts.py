"""Costs of many texts by a mix of language models, in one call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.lm.class_names import class_token
from earshot.decoder_kernels.lm.lm_header import NO_WORD
from earshot.decoder_kernels.lm.lm_image import (
    ROOT,
    SENTENCE_END,
    SENTENCE_START,
    LmImage,
)
from earshot.decoder_kernels.native import kernels

Nats = npt.NDArray[np.float64]
NO_CLASS = NO_WORD - 1
"""In place of a number: of a class that a model lacks (``csrc/results/lm_mixture.h``)."""


@dataclass(frozen=True)
class WordClass:
    """A class in place of a word (`word_classes`)."""

    name: str


WordOrClass: TypeAlias = str | WordClass | None


@dataclass(frozen=True, eq=False)
class WordTexts:
    """Texts of a small vocabulary, one after the other.

    words: what they are made of; None is a word that no model is to know. places (W,): of each
    word of each text among those. ends (T,): where in `places` each text ends. added: what each of
    `words` costs beside, in nats; none where there are fewer.
    """

    words: Sequence[WordOrClass]
    places: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    added: Sequence[float] = ()

    def closed(self) -> "WordTexts":
        """The same with the end of a sentence behind each text."""
        return WordTexts(
            (*self.words, SENTENCE_END),
            np.insert(self.places, self.ends, len(self.words)),
            self.ends + np.arange(1, len(self.ends) + 1),
            self.added,
        )


@dataclass(frozen=True, eq=False)
class MixedLm:
    """Models whose probabilities are mixed word by word (linear interpolation, Jelinek 1980).

    shares: of each image, above 0; together 1.
    """

    images: Sequence[LmImage]
    shares: Sequence[float]

    def costs(self, texts: WordTexts, before: Sequence[WordOrClass] = (SENTENCE_START,)) -> Nats:
        """What each text costs (T,) behind the words `before`, in nats.

        A single model's are whole steps of 2^-10. What a text has in common with the beginning of
        the one before it is not looked up again.
        """
        costs = np.empty(len(texts.ends), np.float64)
        asked = self.asked(texts.words, texts.places, before, texts.added)
        asked.price(np.ascontiguousarray(texts.ends, np.int64), costs)
        return costs

    def asked(
        self,
        words: Sequence[WordOrClass],
        places: npt.NDArray[np.int64],
        before: Sequence[WordOrClass],
        added: Sequence[float] = (),
    ) -> kernels.LmMixture:
        """The models with their numbers of words at `places` (W,), behind the words `before`.

        A class is unknown if no model has it; else those that lack it say nothing of it.
        """
        numbers = np.stack([_numbers(image, words) for image in self.images])
        classes = np.array([isinstance(word, WordClass) for word in words], bool)
        known = (numbers != NO_WORD).any(axis=0)
        numbers[(numbers == NO_WORD) & (classes & known)] = NO_CLASS
        beside = np.zeros(len(words))
        beside[: len(added)] = added
        return kernels.LmMixture(
            tuple(image.native for image in self.images),
            np.log(np.array(self.shares, np.float64)),
            np.array([_state_behind(image, before) for image in self.images], np.uint32),
            np.ascontiguousarray(numbers[:, places]),
            beside[places],
        )


def _numbers(image: LmImage, words: Sequence[WordOrClass]) -> npt.NDArray[np.uint32]:
    """The image's numbers of words."""
    numbers = np.full(len(words), NO_WORD, np.uint32)
    known = [place for place, word in enumerate(words) if word is not None]
    texts = (class_token(word.name) if isinstance(word, WordClass) else word for word in words)
    numbers[known] = image.find_words(text for text in texts if text is not None)
    return numbers


def _state_behind(image: LmImage, words: Sequence[WordOrClass]) -> int:
    """The state that some words lead to; a start that the model does not know leaves none.

    A class that it lacks is an unknown word.
    """
    numbers = _numbers(image, words).tolist()
    if words and words[0] == SENTENCE_START and numbers[0] == NO_WORD:
        numbers = numbers[1:]
    return image.state_after(numbers, ROOT)
