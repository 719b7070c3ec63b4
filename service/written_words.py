"""Results with their words written: as people write them, or without capitals and marks.

Whoever finds words may say how each is written (`Word.written`); figures and abbreviations among
these forms ("14", "Mr.") are words here, as only smart format writes them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from earshot.language.itn.written_numbers import Written
from earshot.service.word_spans import word_spans
from earshot.streaming.events import Alternative, Word

STOPS = ".,;:?!"
_ALL_STOPS = STOPS + "。，？！、；："
_CLOSING = _ALL_STOPS + '…—–"”“»›)]'
_OPENING = '¿¡—–"“„«‹(['
_INITIALS = re.compile(r"([^\W\d_]\.){2,}")


@dataclass(frozen=True)
class WrittenWord(Word):
    """The written form of one or more words; `heard` are these words."""

    heard: str = ""


def punctuated(alternative: Alternative) -> Alternative:
    """Each word as it is written, where somebody has said so; figures stay words."""
    return rewritten(alternative, _each(_in_letters(word) for word in alternative.words))


def bare(alternative: Alternative) -> Alternative:
    """Without capitals and marks, also those of models that write some.

    A boosted phrase stays as the request wrote it.
    """
    texts = [bare_text(word) for word in alternative.words]
    words = tuple(
        replace(word, text=text, written=None)
        for word, text in zip(alternative.words, texts, strict=True)
    )
    if words == alternative.words:
        return alternative
    return replace(rewritten(alternative, _each(texts)), words=words)


def bare_text(word: Word) -> str:
    """A word without capitals and marks; one that a request has written so keeps them."""
    if word.boosted and not word.read_out:
        return word.text
    return (without_marks(word.text) or word.text).lower()


def without_marks(text: str) -> str:
    """A word without quotes, brackets and stops around it; "U.S." is spelled with its last one."""
    inner = text.lstrip(_OPENING).rstrip(_CLOSING)
    whole = f"{inner}."
    return whole if whole in text and are_initials(whole) else inner


def are_initials(text: str) -> bool:
    """Whether a word is letters with a stop behind each: "U.S.", "a.m."."""
    return _INITIALS.fullmatch(text) is not None


def rewritten(alternative: Alternative, forms: Iterable[Written]) -> Alternative:
    """The alternative in these forms, which cover all its words in order."""
    words, spans = alternative.words, word_spans(alternative)
    text, position, made = [], 0, []
    for form in forms:
        text += [alternative.text[position : spans[form.first][0]], form.text]
        position = spans[form.stop - 1][1]
        made.append(_word(form, words[form.first : form.stop]))
    text.append(alternative.text[position:])
    return replace(alternative, text="".join(text), words=tuple(made))


def _each(texts: Iterable[str]) -> Iterable[Written]:
    return (Written(place, place + 1, text) for place, text in enumerate(texts))


def _in_letters(word: Word) -> str:
    """The written form, if it spells the word; else the word with that form's capital and mark."""
    form = word.written
    if form is None or _letters(form) == _letters(word.text):
        return word.text if form is None else form
    stem = form.rstrip(STOPS)
    is_abbreviation = any(letter.isalpha() for letter in stem)
    mark = form[len(stem) :].lstrip("." if is_abbreviation else "")
    text = word.text[:1].upper() + word.text[1:] if form[:1].isupper() else word.text
    return text + mark


def _letters(text: str) -> str:
    return text.rstrip(_ALL_STOPS).lower()


def _word(form: Written, heard: Sequence[Word]) -> Word:
    """Over the time of all its words, with the mean of their confidences."""
    return WrittenWord(
        text=form.text,
        start_s=heard[0].start_s,
        end_s=heard[-1].end_s,
        confidence=sum(word.confidence for word in heard) / len(heard),
        boosted=heard[0].boosted,
        heard=" ".join(bare_text(word) for word in heard),
    )
