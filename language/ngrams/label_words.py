"""The words of a language model by which a transducer's labels are known in it.

Two ways are in use: a label's own spelling (`▁the`), and one character for its number, chr(id +
100), which NeMo's scripts write for models of pieces (`DEFAULT_TOKEN_OFFSET` of its
`scripts/asr_language_modeling/ngram_lm`), because KenLM would otherwise see text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.language.ngrams.arpa import SENTENCE_END, SENTENCE_START, UNKNOWN_WORDS

FIRST_CODE = 100
"""The code of the character that stands for label 0."""

WORD_START = "▁"
"""Before the first piece of a word."""

MOST_STRANGE = 0.1
"""Share of words that may stand for no label. A model of words has nearly all of them strange, one
of these labels none but what its text was marked with."""

NO_WORDS = frozenset((SENTENCE_START, SENTENCE_END, *UNKNOWN_WORDS))
EXAMPLES = 5


@dataclass(frozen=True)
class LabelWords:
    """words: of each label, None where the model has none. numbered: whether they are characters.

    strange: the model's words that stand for no label.
    """

    words: tuple[str | None, ...]
    numbered: bool
    strange: tuple[str, ...]

    @property
    def known(self) -> int:
        """So many labels have a word."""
        return sum(word is not None for word in self.words)


def label_words(words: Sequence[str], labels: Sequence[str]) -> LabelWords:
    """The words of the labels in a model of these words.

    Characters of numbers they are where all are, and not all of them spell a label: so a model of
    letters is read by its spelling. Raises GraphSourceError where more than a tenth stand for no
    label, and where there are none.
    """
    said = [word for word in words if word not in NO_WORDS]
    spelled = frozenset(labels)
    strange = tuple(word for word in said if word not in spelled)
    unnumbered = tuple(word for word in said if _number(word, len(labels)) is None)
    if strange and not unnumbered:
        found = frozenset(said)
        codes = map(_character, range(len(labels)))
        return LabelWords(tuple(code if code in found else None for code in codes), True, ())
    if not said or len(strange) > MOST_STRANGE * len(said):
        raise GraphSourceError(_complaint(said, strange, unnumbered) + _advice(said, labels))
    known = frozenset(words)
    return LabelWords(tuple(label if label in known else None for label in labels), False, strange)


def _number(word: str, labels: int) -> int | None:
    """The label that a character stands for."""
    number = ord(word) - FIRST_CODE if len(word) == 1 else -1
    return number if 0 <= number < labels else None


def _character(label: int) -> str:
    return chr(FIRST_CODE + label)


def _complaint(said: Sequence[str], strange: Sequence[str], unnumbered: Sequence[str]) -> str:
    if not said:
        return "the model has no words, and so none of the labels"
    return (
        f"it is no model of these labels: {_share(strange, said)} spell none of them, and of the "
        f"characters by which NeMo numbers them {_share(unnumbered, said)} are none"
    )


def _advice(said: Sequence[str], labels: Sequence[str]) -> str:
    """How to keep word starts, where a text of pieces was cleaned as if it were prose."""
    if any(WORD_START in word for word in said) or not any(WORD_START in each for each in labels):
        return ""
    kept = "`earshot lm build --as-is` leaves it in a text of pieces"
    return f"; none of its words has the {WORD_START} of the labels: {kept}"


def _share(some: Sequence[str], said: Sequence[str]) -> str:
    examples = ", ".join(repr(word[:40]) for word in some[:EXAMPLES])
    return f"{len(some)} of its {len(said)} words ({100 * len(some) / len(said):.0f} %; {examples})"
