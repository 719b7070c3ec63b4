"""Finals as people write them: figures for numbers, and the capitals that English always has.

Figures are for finals: the form of a number changes with every word that joins it, and the
`stable_words` of partials count heard words. What else is written, capitals and marks of sentences,
comes from whoever found the words (`Word.written`), and a number keeps its last word's mark.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from earshot.language.itn.spoken_years import MONTHS
from earshot.language.itn.written_numbers import Written, written_numbers
from earshot.service.written_words import STOPS, rewritten
from earshot.streaming.events import Alternative, Word

_ALSO_WORDS = frozenset(("march", "may", "august"))
_DAYS = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
_CAPITALS = frozenset({"i"} | _DAYS | (MONTHS - _ALSO_WORDS))
SENTENCE_ENDS = frozenset(".?!")
_WITHIN_NUMBERS = ","
"""Said to a tagger by pauses between digits; a number goes on over it."""
_JOINING = "and"


def smart_format(alternative: Alternative) -> Alternative:
    """Write an alternative of a final as people write English."""
    return rewritten(alternative, _written(alternative.words))


def _written(words: Sequence[Word]) -> Iterator[Written]:
    """All words, those of numbers together."""
    position = 0
    for number in [*_numbers(words), Written(len(words), len(words), "")]:
        for index in range(position, number.first):
            yield Written(index, index + 1, _form(words[index]))
        if number.text:
            yield number
        position = number.stop


def _numbers(words: Sequence[Word]) -> Iterator[Written]:
    """Not within a boosted phrase that the request wrote in these words, nor across a stop.

    Nor beside figures that the model has written, of which it may be a part: "$5 fifty".
    """
    for number in _within_sentences(words):
        *inner, last = words[number.first : number.stop]
        wished = any(word.boosted and not word.read_out for word in (*inner, last))
        parted = any(_stops(word) for word in inner)
        if not wished and not parted and not _beside_figures(words, number):
            yield replace(number, text=number.text + _marks(last.written or last.text))


def _beside_figures(words: Sequence[Word], number: Written) -> bool:
    """Whether figures lie next to it, with an "and" between them at most, and no mark."""
    before = takewhile(lambda word: not _stops(word), reversed(words[: number.first]))
    after = () if _stops(words[number.stop - 1]) else words[number.stop :]
    return _begin_with_figures(before) or _begin_with_figures(after)


def _begin_with_figures(words: Iterable[Word]) -> bool:
    nearest = next((word.text for word in words if word.text.lower() != _JOINING), "")
    return any(letter.isdigit() for letter in nearest)


def _within_sentences(words: Sequence[Word]) -> Iterator[Written]:
    """Numbers of each sentence by itself: the next one may begin with "Two" or "Oh"."""
    plain = [word.text.lower().rstrip(STOPS) for word in words]
    ends = [place + 1 for place, word in enumerate(words) if _ends_sentence(word)]
    for first, stop in pairwise([0, *ends, len(words)]):
        for number in written_numbers(plain[first:stop]):
            yield replace(number, first=first + number.first, stop=first + number.stop)


def _ends_sentence(word: Word) -> bool:
    return bool(set(_marks(word.written or word.text)) & SENTENCE_ENDS)


def _stops(word: Word) -> bool:
    """Whether no number goes on after the word."""
    if word.written is None:
        return bool(_marks(word.text))
    return bool(_marks(word.written).strip(_WITHIN_NUMBERS))


def _marks(text: str) -> str:
    return text[len(text.rstrip(STOPS)) :]


def _form(word: Word) -> str:
    return _capitalised(word) if word.written is None else word.written


def _capitalised(word: Word) -> str:
    """I and I'm, days and months: names that hardly ever are anything else."""
    stem = word.text.rstrip(STOPS).partition("'")[0]
    named = stem in _CAPITALS and (word.read_out or not word.boosted)
    return word.text[0].upper() + word.text[1:] if named else word.text
