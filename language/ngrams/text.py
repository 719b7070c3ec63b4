"""A text as numbers: what counting and scoring need of it."""

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import LanguageModelError
from earshot.language.ngrams.arpa import SENTENCE_END, SENTENCE_START, UNKNOWN_WORDS

Ids = npt.NDArray[np.int32]

SPECIAL_WORDS = (SENTENCE_START, SENTENCE_END, UNKNOWN_WORDS[0])
"""The first words of every vocabulary."""
START, END, UNKNOWN = range(3)
OUTSIDE = -1
"""The id of a word that the vocabulary lacks."""


@dataclass(frozen=True, eq=False)
class Text:
    """``words[i]`` is word ``i`` of ``ids`` (N,); each sentence is between START and END."""

    words: Sequence[str]
    ids: Ids

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> "Text":
        """Number the words in the order in which they come."""
        numbers = {word: i for i, word in enumerate(SPECIAL_WORDS)}
        ids = array("i")
        for sentence in sentences:
            ids.append(START)
            ids.extend([numbers.setdefault(word, len(numbers)) for word in sentence])
            ids.append(END)
        return cls(list(numbers), np.frombuffer(ids, np.int32) if ids else np.zeros(0, np.int32))

    @property
    def num_words(self) -> int:
        """How many words there are, without the marks of sentences."""
        return int((self.ids > END).sum())

    def in_words_of(self, vocabulary: Sequence[str]) -> Ids:
        """Its ids in a vocabulary; a word that is not there is OUTSIDE."""
        numbers = {word: i for i, word in enumerate(vocabulary)}
        table = np.array([numbers.get(word, OUTSIDE) for word in self.words], np.int32)
        table[UNKNOWN] = OUTSIDE
        return table[self.ids]


def choose_vocabulary(
    texts: Sequence[Text], most: int, required: Collection[str] = ()
) -> Sequence[str]:
    """The special words, the ``most`` that are the most frequent, and those required.

    Words of equal frequency come by the alphabet. Raises LanguageModelError if there are none.
    """
    counts: dict[str, int] = {}
    for text in texts:
        for word, count in zip(text.words, np.bincount(text.ids).tolist(), strict=False):
            counts[word] = counts.get(word, 0) + count
    seen = [word for word in counts if word not in SPECIAL_WORDS]
    seen.sort(key=lambda word: (-counts[word], word))
    chosen = {*seen[:most], *required} - set(SPECIAL_WORDS)
    if not chosen:
        raise LanguageModelError("there are no words in the text")
    return [*SPECIAL_WORDS, *sorted(chosen)]
