"""Dates and times as people say them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.language.text.date_words import MONTHS, clock, clock_phrase, date
from earshot.language.text.number_words import cardinal, ordinal


@given(st.dates())
@settings(max_examples=30)
def test_both_orders_of_a_date_name_day_and_month(day: datetime.date) -> None:
    number, month, of_year = day.day, day.month, day.year
    first, second = (date(number, month, of_year, day_first=order) for order in (False, True))
    name = MONTHS[month - 1]
    assert first.startswith(f"{name} {ordinal(number)}, ")
    assert second.startswith(f"the {ordinal(number)} of {name}, ")
    assert first.split(", ")[1] == second.split(", ")[1]


def test_a_date_may_have_no_year() -> None:
    assert date(5, 5) == "May fifth"
    assert date(31, 12, 1999, day_first=True) == (
        "the thirty first of December, nineteen ninety nine"
    )


@pytest.mark.parametrize(
    ("hour", "minute", "half", "words"),
    [
        (7, 0, "", "seven o'clock"),
        (7, 0, "pm", "seven P.M."),
        (7, 5, "", "seven oh five"),
        (19, 30, "", "nineteen thirty"),
        (0, 0, "", "zero hundred"),
        (11, 59, "am", "eleven fifty nine A.M."),
    ],
)
def test_the_clock_is_read_aloud(hour: int, minute: int, half: str, words: str) -> None:
    assert clock(hour, minute, half) == words


def said_minutes(words: str) -> int:
    """Minutes since twelve that a phrase names."""
    names = {cardinal(number): number for number in range(60)} | {"quarter": 15, "half": 30}
    if words.endswith("o'clock"):
        return names[words.removesuffix(" o'clock")] * 60 % 720
    sign, mark = (1, " past ") if " past " in words else (-1, " to ")
    amount, named = words.split(mark)
    minutes = names[amount.removesuffix("s").removesuffix(" minute")]
    return (names[named] * 60 + sign * minutes) % 720


def test_phrases_past_and_to_name_the_same_time() -> None:
    for minutes in range(720):
        assert said_minutes(clock_phrase(minutes // 60 or 12, minutes % 60)) == minutes


def test_odd_minutes_are_called_minutes() -> None:
    assert clock_phrase(7, 1) == "one minute past seven"
    assert clock_phrase(12, 43) == "seventeen minutes to one"
    assert clock_phrase(12, 45) == "quarter to one"
