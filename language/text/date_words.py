"""Dates and times of the day as people say them."""

from __future__ import annotations

from earshot.language.text.number_words import cardinal, ordinal, year

# fmt: off
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)
# fmt: on
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HALVES = {"am": "A.M.", "pm": "P.M."}


def date(day: int, month: int, of_year: int | None = None, *, day_first: bool = False) -> str:
    """Say a date: "May fifth, nineteen ninety eight", or "the fifth of May, ..." `day_first`.

    `day` and `month` count from 1.
    """
    name = MONTHS[month - 1]
    words = f"the {ordinal(day)} of {name}" if day_first else f"{name} {ordinal(day)}"
    return words if of_year is None else f"{words}, {year(of_year)}"


def clock(hour: int, minute: int, half: str = "") -> str:
    """19:05 is "nineteen oh five", 7:00 "seven o'clock", 7:00 pm "seven P.M."."""
    words = [cardinal(hour)]
    if minute:
        words += ["oh"] * (minute < 10) + [cardinal(minute)]
    elif not half:
        words += ["o'clock"] if 1 <= hour <= 12 else ["hundred"]
    return " ".join([*words, *([HALVES[half]] if half else [])])


def clock_phrase(hour: int, minute: int) -> str:
    """7:15 is "quarter past seven", 7:40 "twenty to eight"; on the twelve hour clock."""
    until = minute > 30
    named = cardinal((hour + until - 1) % 12 + 1)
    if minute == 0:
        return f"{named} o'clock"
    gap = 60 - minute if until else minute
    amount = {15: "quarter", 30: "half"}.get(gap, cardinal(gap))
    plain = gap % 5 != 0
    minutes = f" minute{'s' if gap > 1 else ''}" if plain else ""
    return f"{amount}{minutes} {'to' if until else 'past'} {named}"
