"""Words of numbers, read back by an inverse that is written another way."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.language.errors import UnsayableText
from earshot.language.text.number_words import (
    LIMIT,
    MAX_DIGITS,
    as_ordinal,
    cardinal,
    decade,
    decimal,
    digit_string,
    figures,
    ordinal,
    roman_value,
    year,
)
from earshot.language.text.transcript_text import normalise_text

TEENS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
TENS = " ten twenty thirty forty fifty sixty seventy eighty ninety"
VALUES = {word: value for value, word in enumerate(TEENS.split())}
VALUES |= {word: 10 * value for value, word in enumerate(TENS.split(" "))}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
NUMBERS = st.one_of(st.integers(0, 10_000), st.integers(0, LIMIT - 1))


def value(words: str) -> int:
    """The number that words say, word by word from the left."""
    total = group = 0
    for word in words.split():
        if word == "hundred":
            group *= 100
        elif word in SCALES:
            total, group = total + group * SCALES[word], 0
        elif word != "and":
            group += VALUES[word]
    return total + group


@given(NUMBERS, st.booleans())
@settings(max_examples=50)
def test_a_cardinal_says_its_number(number: int, with_and: bool) -> None:
    words = cardinal(number, with_and=with_and)
    assert value(words) == number
    assert normalise_text(words) == words


def test_a_cardinal_says_and_only_where_the_british_do() -> None:
    assert cardinal(1_005_120) == "one million five thousand one hundred twenty"
    assert cardinal(105, with_and=True) == "one hundred and five"
    assert cardinal(1_005, with_and=True) == "one thousand and five"
    assert cardinal(20_100, with_and=True) == "twenty thousand one hundred"
    assert cardinal(-3) == "minus three"


def test_a_number_too_large_has_no_words() -> None:
    with pytest.raises(UnsayableText, match=str(LIMIT)):
        cardinal(LIMIT)


@given(NUMBERS)
@settings(max_examples=30)
def test_an_ordinal_changes_the_last_word_alone(number: int) -> None:
    *front, last = cardinal(number).split()
    assert ordinal(number).split()[:-1] == front
    assert last[:2] == ordinal(number).split()[-1][:2] or last in ("one", "two")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "first"),
        (12, "twelfth"),
        (20, "twentieth"),
        (23, "twenty third"),
        (48, "forty eighth"),
        (100, "one hundredth"),
        (2000, "two thousandth"),
    ],
)
def test_ordinals_are_spelled_as_in_books(number: int, words: str) -> None:
    assert ordinal(number) == words


@given(st.integers(1000, 9999))
@settings(max_examples=50)
def test_a_year_says_its_number(number: int) -> None:
    words = year(number)
    if "hundred" in words or "thousand" in words:
        assert value(words) == number
    else:
        century = cardinal(number // 100)
        assert words.startswith(f"{century} ")
        assert ("oh" in words.split()) == (number % 100 < 10)
        assert value(words.removeprefix(century).replace("oh", "")) == number % 100


def test_years_of_the_first_decades_are_said_as_people_do() -> None:
    assert [year(number) for number in (1905, 1900, 2000, 2004, 2015, 476)] == [
        "nineteen oh five",
        "nineteen hundred",
        "two thousand",
        "two thousand four",
        "twenty fifteen",
        "four hundred seventy six",
    ]


def test_decades_are_many_years() -> None:
    assert [decade(number) for number in (1960, 1800, 2000)] == [
        "nineteen sixties",
        "eighteen hundreds",
        "two thousands",
    ]


@given(st.text("0123456789", min_size=1, max_size=20))
@settings(max_examples=20)
def test_a_digit_string_keeps_every_digit(digits: str) -> None:
    words = digit_string(digits, zero="oh").split()
    assert "".join("0" if word == "oh" else str(VALUES[word]) for word in words) == digits


def test_decimals_are_said_digit_by_digit_behind_the_point() -> None:
    assert decimal("12.050") == "twelve point zero five zero"
    assert decimal(".5") == "point five"


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("0", "zero"),
        ("13", "thirteen"),
        ("20", "twenty"),
        ("99", "ninety nine"),
        ("104", "one hundred four"),
        ("1000", "one thousand"),
        ("12000018", "twelve million eighteen"),
        ("007", "zero zero seven"),
        ("1" + MAX_DIGITS * "0", "one" + MAX_DIGITS * " zero"),
    ],
)
def test_figures_are_a_number_or_digit_by_digit(digits: str, words: str) -> None:
    assert figures(digits) == words


def test_the_largest_number_is_as_long_as_figures_may_be() -> None:
    assert figures(str(LIMIT - 1)) == cardinal(LIMIT - 1)
    assert len(str(LIMIT - 1)) == MAX_DIGITS


def test_each_number_has_its_own_words() -> None:
    assert len({cardinal(number) for number in range(20_000)}) == 20_000


def test_digits_may_be_a_place() -> None:
    assert as_ordinal(figures("1" + MAX_DIGITS * "0")).endswith(" zero zeroth")


@pytest.mark.parametrize(
    ("number", "words"),
    [(1604, "sixteen o four"), (1900, "nineteen hundred"), (1984, "nineteen eighty four"),
     (2005, "two thousand five"), (1000, "one thousand"), (1066, "ten sixty six")],
)  # fmt: skip
def test_years_may_say_zero_as_some_transcripts_write_it(number: int, words: str) -> None:
    assert year(number, zero="o") == words


@pytest.mark.parametrize(
    ("numeral", "value"),
    [("I", 1), ("IV", 4), ("XIX", 19), ("XL", 40), ("MCMXCIV", 1994), ("IIX", 0), ("VV", 0),
     ("iv", 0), ("", 0)],
)  # fmt: skip
def test_roman_numerals(numeral: str, value: int) -> None:
    assert roman_value(numeral) == value
