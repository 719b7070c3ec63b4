"""What written text becomes before an engine says it, and what is refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.language.errors import UnsayableText
from earshot.language.text.number_words import cardinal, ordinal
from earshot.language.text.spoken_text import UNSURE, letters, spoken_text
from earshot.language.text.transcript_text import normalise_text


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("He paid $1,204.50.", "He paid one thousand two hundred four dollars and fifty cents."),
        ("$2.5 million of it", "two point five million dollars of it"),
        ("It cost £3.5 then", "It cost three point five pounds then"),
        ("On May 5, 1998, he left", "On May fifth, nineteen ninety eight, he left"),
        ("It was 2024-05-06 then", "It was May sixth, twenty twenty four then"),
        ("at 10:05 p.m. or 7am", "at ten oh five P.M. or seven A.M."),
        ("in 1905, 7 men", "in nineteen oh five, seven men"),
        ("the 1960s and the 1800's", "the nineteen sixties and the eighteen hundreds"),
        ("the 21st of 1,000", "the twenty first of one thousand"),
        ("50 % of 3.14", "fifty percent of three point one four"),
        ("room 007, call 5551234", "room zero zero seven, call five five five one two three four"),
        ("No. 5, Mr. Smith vs. St. John", "number five, mister Smith versus saint John"),
        ("The FBI saw J Smith", "The F. B. I. saw J. Smith"),
        ("“So -- naïve” (he’d said) & left…", "So, naive he'd said and left,"),
    ],
)  # fmt: skip
def test_numbers_and_abbreviations_become_words(written: str, spoken: str) -> None:
    assert spoken_text(written) == spoken


@pytest.mark.parametrize(
    "written",
    [
        "1/2 of it",
        "the years 1914-1918",
        "version 1.2.3",
        "x = 5",
        "5'10 tall",
        "May 45 was no day",
        "the clock says 25:10",
        "Henry VIII did",
        "Malcolm X",
        "and then Mary I saw",
        "the FBI's men",
        "CHAPTER ONE BEGINS",
        "i.e. this",
        "Smith & Co. are here",
        "слово",
        "... !",
        "1234567890,123 or so",
    ],
)
def test_what_has_no_sure_reading_is_refused(written: str) -> None:
    with pytest.raises(UnsayableText):
        spoken_text(written)


def test_a_refusal_names_what_is_unsure_and_where() -> None:
    with pytest.raises(UnsayableText, match=re.escape("no sure reading of '/' in 'and/or'")):
        spoken_text("and/or")


@given(st.text(st.sampled_from("aB2 50.,:;-'%$£&/()\"MrV"), max_size=30))
@settings(max_examples=50)
def test_whatever_is_said_is_words_and_punctuation(written: str) -> None:
    try:
        spoken = spoken_text(written)
    except UnsayableText:
        return
    assert UNSURE.search(spoken) is None
    assert normalise_text(spoken)


@given(st.integers(0, 10**12))
@settings(max_examples=20)
def test_grouped_numbers_and_ordinals_are_said_whole(number: int) -> None:
    if number >= 1000:
        assert spoken_text(f"about {number:,} men") == f"about {cardinal(number)} men"
    assert spoken_text(f"the {number}th man") == f"the {ordinal(number)} man"


def test_letters_are_their_own_transcript() -> None:
    assert letters("Roy") == "R. O. Y."
    assert normalise_text(letters("Roy")) == "r o y"
