"""Words as people write them, and without capitals and marks."""

from dataclasses import replace

import pytest

from earshot.service.writing import AS_HEARD, Writing
from earshot.service.written_words import WrittenWord
from earshot.streaming.events import Alternative, Final, Partial, Word

PUNCTUATED, SMART = Writing(punctuate=True), Writing(punctuate=True, smart_format=True)


def alternative(text, written="", boosted=()):
    """Each word lasts half a second; a dash is a word of which nobody says how it is written."""
    forms = [None if form == "-" else form for form in written.split()]
    said = text.split()
    words = tuple(
        Word(word, place / 2, (place + 1) / 2, 0.5, word in boosted, written=form)
        for place, (word, form) in enumerate(zip(said, forms or [None] * len(said), strict=True))
    )
    return Alternative(text, words, 0.5, -1.0)


def final(*arguments):
    return Final(0.0, 9.0, (alternative(*arguments),), True, False, "end")


def text(writing, result):
    [best] = writing.of(result).alternatives
    return best.text


SAID = "well mister brown it costs twenty three dollars in june"
FORMS = "Well, Mister Brown. It costs twenty three dollars in June?"


def test_written_forms_are_for_who_asks_for_them():
    heard = final(SAID, FORMS)
    assert text(AS_HEARD, heard) == SAID
    assert text(PUNCTUATED, heard) == FORMS
    assert text(SMART, heard) == "Well, Mister Brown. It costs $23 in June?"


def test_figures_alone_bring_no_forms_that_the_decoder_wrote():
    heard = final(SAID, FORMS)
    assert text(Writing(punctuate=False, smart_format=True), heard) == (
        "well mister brown it costs $23 in June"
    )


def test_a_word_keeps_what_was_heard_beside_its_form():
    [best] = PUNCTUATED.of(final("oh no", "Oh, no.")).alternatives
    assert best.words[0] == WrittenWord("Oh,", 0.0, 0.5, 0.5, False, "oh")
    [best] = SMART.of(
        final("in twenty twenty six maybe", "In twenty twenty six, maybe.")
    ).alternatives
    assert [(word.text, word.heard) for word in best.words] == [
        ("In", "in"), ("2026,", "twenty twenty six"), ("maybe.", "maybe"),
    ]  # fmt: skip
    assert [word.start_s for word in best.words] == [0.0, 0.5, 2.0]


def test_partials_are_written_too_but_for_figures():
    partial = Partial(0.0, 1.0, (alternative("it costs ten", "It costs ten"),), 1)
    assert [text(each, partial) for each in (AS_HEARD, PUNCTUATED, SMART)] == [
        "it costs ten", "It costs ten", "It costs ten",
    ]  # fmt: skip


def test_a_number_keeps_its_mark_and_ends_at_a_stop_alone():
    said = "there are one hundred fifty of them"
    assert text(SMART, final(said, "There are one hundred, fifty. Of them.")) == (
        "There are 150. Of them."
    )
    assert text(SMART, final(said, "There are one hundred. Fifty of them.")) == (
        "There are 100. 50 of them."
    )


@pytest.mark.parametrize(
    ("said", "form", "letters", "figures"),
    [
        ("fourteen", "14.", "fourteen.", "14."),
        ("ten", "$10,", "ten,", "10,"),
        ("mister", "Mr.", "Mister", "Mr."),
        ("etcetera", "etc.?", "etcetera?", "etc.?"),
        ("o'brien", "O'Brien?", "O'Brien?", "O'Brien?"),
        ("so", "-", "so", "so"),
    ],
)
def test_figures_and_abbreviations_are_words_without_smart_format(said, form, letters, figures):
    heard = final(said, form)
    assert (text(AS_HEARD, heard), text(PUNCTUATED, heard)) == (said, letters)
    assert text(SMART, heard) == figures


def test_a_model_that_writes_capitals_and_marks_itself_does_so_for_who_asks():
    heard = final("Well, IT IS McDonald. 好。")
    assert text(PUNCTUATED, heard) == "Well, IT IS McDonald. 好。"
    assert text(AS_HEARD, heard) == "well it is mcdonald 好"
    [best] = AS_HEARD.of(heard).alternatives
    assert [word.text for word in best.words] == ["well", "it", "is", "mcdonald", "好"]
    [best] = PUNCTUATED.of(heard).alternatives
    assert [word.heard for word in best.words] == ["well", "it", "is", "mcdonald", "好"]


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("U.S.", "u.s."), ("U.S.,", "u.s."), ("a.m.?", "a.m."), ("(U.S.)", "u.s."), ("Mr.", "mr"),
        ("o'clock.", "o'clock"), ("I'm", "i'm"), ("dogs'", "dogs'"), ("E-mail,", "e-mail"),
        ("$5.", "$5"), ("2026,", "2026"), ("3:30?", "3:30"), ("1,000.", "1,000"), ("3.5", "3.5"),
        ("50%.", "50%"), ("-5", "-5"), ('"Hello,"', "hello"), ("¿Qué?", "qué"), ("«Oui»", "oui"),
        ("wait…", "wait"), ("no—", "no"), ("...", "..."),
    ],
)  # fmt: skip
def test_marks_around_a_word_are_not_of_it(written, word):
    heard = final(f"So {written}")
    assert text(AS_HEARD, heard) == f"so {word}"
    [best] = PUNCTUATED.of(heard).alternatives
    assert (best.text, best.words[1].text, best.words[1].heard) == (f"So {written}", written, word)


def test_a_boosted_phrase_stays_as_the_request_wrote_it():
    heard = final("ask Dr. McGee now.", "", {"Dr.", "McGee"})
    assert text(AS_HEARD, heard) == "ask Dr. McGee now"
    marked = final("ask McGee now.", "- McGee, -", {"McGee"})
    assert text(AS_HEARD, marked) == "ask McGee now"
    assert text(PUNCTUATED, marked) == "ask McGee, now."


def test_what_has_no_capitals_and_marks_is_not_touched():
    heard = final("ten past two")
    assert AS_HEARD.of(heard).alternatives[0] is heard.alternatives[0]


def test_an_empty_result_stays_empty():
    nothing = replace(final(""), alternatives=(Alternative("", (), 0.0, 0.0),))
    assert {text(each, nothing) for each in (AS_HEARD, PUNCTUATED, SMART)} == {""}
