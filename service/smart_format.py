"""Finals as people write them: figures for numbers, and the capitals that English always has.

Partials stay as heard: the form of a number changes with every word that joins it, and their
`stable_words` count heard words. Sentences get no capitals or stops: a pause is often none's end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from earshot.language.itn.spoken_years import MONTHS
from earshot.language.itn.written_numbers import Written, written_numbers
from earshot.service.word_spans import word_spans
from earshot.streaming.events import Alternative, Final, Word

_ALSO_WORDS = frozenset(("march", "may", "august"))
_DAYS = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
_CAPITALS = frozenset({"i"} | _DAYS | (MONTHS - _ALSO_WORDS))

_STOPS = ".,;:?!"
"""Of models that write them, which ours does not."""


@dataclass(frozen=True)
class WrittenWord(Word):
    """The written form of one or more words; `heard` are these words."""

    heard: str = ""


def smart_format(final: Final) -> Final:
    """Write each alternative of a final as people write English."""
    return replace(final, alternatives=tuple(_formatted(each) for each in final.alternatives))


def _formatted(alternative: Alternative) -> Alternative:
    words, spans = alternative.words, word_spans(alternative)
    text, position, made = [], 0, []
    for written in _written(words):
        text += [alternative.text[position : spans[written.first][0]], written.text]
        position = spans[written.stop - 1][1]
        made.append(_word(written, words[written.first : written.stop]))
    text.append(alternative.text[position:])
    return replace(alternative, text="".join(text), words=tuple(made))


def _written(words: Sequence[Word]) -> Iterator[Written]:
    """All words, those of numbers together."""
    position = 0
    for number in [*_numbers(words), Written(len(words), len(words), "")]:
        for index in range(position, number.first):
            yield Written(index, index + 1, _capitalised(words[index]))
        if number.text:
            yield number
        position = number.stop


def _numbers(words: Sequence[Word]) -> Iterator[Written]:
    """Not within a boosted phrase that the request wrote in these words, nor across a stop."""
    plain = [word.text.lower().rstrip(_STOPS) for word in words]
    for number in written_numbers(plain):
        *inner, last = words[number.first : number.stop]
        wished = any(word.boosted and not word.read_out for word in (*inner, last))
        if not wished and not any(word.text.endswith(tuple(_STOPS)) for word in inner):
            stops = last.text[len(plain[number.stop - 1]) :]
            yield replace(number, text=number.text + stops)


def _capitalised(word: Word) -> str:
    """I and I'm, days and months: names that hardly ever are anything else."""
    stem = word.text.rstrip(_STOPS).partition("'")[0]
    named = stem in _CAPITALS and (word.read_out or not word.boosted)
    return word.text[0].upper() + word.text[1:] if named else word.text


def _word(written: Written, heard: Sequence[Word]) -> Word:
    """Over the time of all its words, with the mean of their confidences."""
    return WrittenWord(
        text=written.text,
        start_s=heard[0].start_s,
        end_s=heard[-1].end_s,
        confidence=sum(word.confidence for word in heard) / len(heard),
        boosted=heard[0].boosted,
        heard=" ".join(word.text for word in heard),
    )
