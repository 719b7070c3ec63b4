"""Words without capitals and marks, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.language.marks.marked_words import (
    Capital,
    Mark,
    capital_of,
    marked_words,
    written,
)


def test_each_word_has_its_capital_and_the_mark_after_it():
    said = marked_words('"Well, I\'m not sure," said Mr. McDonald. Are you? NASA is!')
    assert " ".join(word.text for word in said) == (
        "well i'm not sure said mister mcdonald are you nasa is"
    )
    assert [word.mark for word in said] == [1, 0, 0, 1, 0, 0, 2, 0, 3, 0, 2]
    assert [word.capital for word in said] == [1, 1, 0, 0, 0, 1, 3, 1, 0, 2, 0]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("one; two", Mark.COMMA),
        ("one: two", Mark.COMMA),
        ("one -- two", Mark.UNSURE),
        ("one (two)", Mark.UNSURE),
        ("etc. and", Mark.UNSURE),
        ("oh! and", Mark.STOP),
        ("one-two", Mark.NONE),
        ("one.", Mark.STOP),
    ],
)
def test_marks_that_a_speaker_would_not_miss(text, mark):
    assert marked_words(text)[0].mark == mark


def test_a_form_of_its_own_is_looked_up_and_else_begins_with_a_capital():
    assert written("mcdonald", Capital.OWN, Mark.COMMA, {"mcdonald": "McDonald"}) == "McDonald,"
    assert written("macbeth", Capital.OWN, Mark.STOP, {}) == "Macbeth."
    assert written("usa", Capital.ALL, Mark.QUESTION, {}) == "USA?"


@given(st.text("abcXYZ',.?! -", max_size=40))
def test_what_was_taken_apart_is_put_together_again(text):
    for word in marked_words(text):
        if word.capital != Capital.OWN:
            assert written(word.text, word.capital, Mark.NONE, {}) == word.form


@given(st.text("aB'", min_size=1, max_size=4).filter(str.isalpha))
def test_a_capital_is_one_kind(form):
    assert (capital_of(form) == Capital.LOWER) == form.islower()
