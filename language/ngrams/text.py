"""A text as numbers: what counting and scoring need of it."""

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import LanguageModelError
from earshot.language.ngrams.arpa import SENTENCE_END, SENTENCE_START, UNKNOWN_WORDS
from earshot.language.ngrams.columns import TOGETHER, Columns, parts

Ids = npt.NDArray[np.int32]

SPECIAL_WORDS = (SENTENCE_START, SENTENCE_END, UNKNOWN_WORDS[0])
"""The first words of every vocabulary."""
START, END, UNKNOWN = range(3)
OUTSIDE = -1
"""The id of a word that the vocabulary lacks."""
READ_TOGETHER = 1 << 16


@dataclass(frozen=True, eq=False)
class Text:
    """``words[i]`` is word ``i`` of ``ids`` (N,); each sentence is between START and END.

    ``together`` places are counted at a time.
    """

    words: Sequence[str]
    ids: Ids

    together: int = TOGETHER

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], columns: Columns | None = None) -> "Text":
        """Number the words in the order in which they come, in a column of ``columns``."""
        columns = columns or Columns()
        numbers = {word: i for i, word in enumerate(SPECIAL_WORDS)}
        growing, ids = columns.growing(np.int32), array("i")
        for sentence in sentences:
            ids.append(START)
            ids.extend([numbers.setdefault(word, len(numbers)) for word in sentence])
            ids.append(END)
            if len(ids) >= READ_TOGETHER:
                growing.add(np.array(ids, np.int32))
                del ids[:]
        growing.add(np.array(ids, np.int32))
        return cls(list(numbers), growing.whole(), columns.together)

    @property
    def num_words(self) -> int:
        """How many words there are, without the marks of sentences."""
        return sum(int((self.ids[part] > END).sum()) for part in self._parts())

    def counts(self) -> npt.NDArray[np.int64]:
        """(W,): how often each word is there."""
        counts = np.zeros(len(self.words), np.int64)
        for part in self._parts():
            counts += np.bincount(self.ids[part], minlength=len(self.words))
        return counts

    def in_words_of(self, vocabulary: Sequence[str], columns: Columns | None = None) -> Ids:
        """Its ids in a vocabulary, in a column of ``columns``; OUTSIDE are words it lacks."""
        numbers = {word: i for i, word in enumerate(vocabulary)}
        table = np.array([numbers.get(word, OUTSIDE) for word in self.words], np.int32)
        table[UNKNOWN] = OUTSIDE
        growing = (columns or Columns()).growing(np.int32)
        for part in self._parts():
            growing.add(table[self.ids[part]])
        return growing.whole()

    def _parts(self) -> Iterator[slice]:
        return parts(len(self.ids), self.together)


def choose_vocabulary(
    texts: Sequence[Text], most: int, required: Collection[str] = ()
) -> Sequence[str]:
    """The special words, the ``most`` that are the most frequent, and those required.

    Words of equal frequency come by the alphabet. Raises LanguageModelError if there are none.
    """
    counts: dict[str, int] = {}
    for text in texts:
        for word, count in zip(text.words, text.counts().tolist(), strict=True):
            counts[word] = counts.get(word, 0) + count
    seen = [word for word in counts if word not in SPECIAL_WORDS]
    seen.sort(key=lambda word: (-counts[word], word))
    chosen = {*seen[:most], *required} - set(SPECIAL_WORDS)
    if not chosen:
        raise LanguageModelError("there are no words in the text")
    return [*SPECIAL_WORDS, *sorted(chosen)]
