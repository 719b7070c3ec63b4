"""Names, numbers, dates, times, money, digits and letters, each drawn by a small grammar."""

from __future__ import annotations

import calendar
import random
import string

from earshot.language.text.date_words import WEEKDAYS, clock, clock_phrase, date
from earshot.language.text.money_words import CURRENCIES, money, short_money
from earshot.language.text.names import FAMILY, GIVEN, PLACES
from earshot.language.text.number_words import (
    DIGITS,
    cardinal,
    decimal,
    digit_string,
    ordinal,
    year,
)
from earshot.language.text.spoken_text import letters
from earshot.training.synthetic.sayings.saying import Saying

# fmt: off
NUMBER_WORDS = (
    "oh", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty",
    "seventy", "eighty", "ninety", "hundred", "thousand", "million", "and", "point",
)
# fmt: on
TITLES = ("mister", "missus", "miss", "doctor", "professor", "captain")
COUNTED = ("people", "miles", "days", "years", "pages", "houses", "times", "feet", "men", "women")
LABELLED = ("room", "page", "number", "chapter", "flight", "line", "platform", "house number")
LEAP_YEAR = 2000  # so that the twenty ninth of February is said too
LETTERS = string.ascii_uppercase


def digits(rng: random.Random) -> Saying:
    """One digit, or up to six; one list in five with other words of numbers between them."""
    if rng.random() < 0.4:
        return Saying(rng.choice(DIGITS))
    words = DIGITS if rng.random() < 0.8 else (*DIGITS, *NUMBER_WORDS)
    return Saying(" ".join(rng.choices(words, k=rng.randint(1, 6))))


def telephone(rng: random.Random) -> Saying:
    """Digit strings in groups, as telephone, card and postal numbers are said."""
    zero = rng.choice(("zero", "oh"))
    groups = rng.choice(((3, 4), (3, 3, 4), (4, 4, 4, 4), (5,), (2, 2, 2, 2), (4,)))
    drawn = ("".join(rng.choices(string.digits, k=size)) for size in groups)
    return Saying(", ".join(digit_string(group, zero=zero) for group in drawn))


def digit_strings(rng: random.Random) -> Saying:
    """Single digits and digit strings."""
    return digits(rng) if rng.random() < 0.6 else telephone(rng)


def _magnitude(rng: random.Random) -> int:
    """Small numbers as often as large ones, and round ones often."""
    number = rng.randrange(10 ** rng.choice((1, 2, 2, 3, 3, 4, 5, 6, 7)))
    rounding = 10 ** rng.choice((0, 0, 0, 1, 2, 3))
    return number - number % rounding if number > rounding else number


def number(rng: random.Random) -> Saying:
    """Cardinals, ordinals, decimals and percentages, alone or with what they count."""
    words = cardinal(_magnitude(rng), with_and=rng.random() < 0.5)
    forms = (
        words,
        f"{words} {rng.choice(COUNTED)}",
        f"{rng.choice(LABELLED)} {words}",
        f"{words} percent",
        f"the {ordinal(rng.randint(1, 120))}",
        decimal(f"{rng.randint(0, 200)}.{rng.randint(0, 999)}"),
        f"between {cardinal(rng.randint(1, 50))} and {cardinal(rng.randint(51, 400))}",
        "minus " + cardinal(rng.randint(1, 60)),
    )
    return Saying(rng.choices(forms, weights=(4, 2, 2, 1, 2, 1, 1, 1))[0])


def day(rng: random.Random) -> Saying:
    """A date without a year, or a day of the week, or both."""
    month = rng.randint(1, 12)
    of_month = rng.randint(1, calendar.monthrange(LEAP_YEAR, month)[1])
    plain = date(of_month, month, day_first=rng.random() < 0.5)
    weekday = rng.choice(WEEKDAYS)
    return Saying(rng.choices((plain, weekday, f"{weekday}, {plain}"), weights=(3, 1, 1))[0])


def calendar_date(rng: random.Random) -> Saying:
    """Dates with and without a year, and years alone."""
    of_year = year(rng.choice((rng.randint(1100, 2099), rng.randint(1900, 2030))))
    forms = (day(rng).spoken, f"{day(rng).spoken}, {of_year}", of_year, f"in the year {of_year}")
    return Saying(rng.choices(forms, weights=(3, 4, 2, 1))[0])


def time_of_day(rng: random.Random) -> Saying:
    """Say a time: "seven thirty P.M.", "quarter past nine", "six o'clock in the morning"."""
    hour = rng.randint(1, 12)
    minute = rng.choice((0, 0, 15, 30, 45, rng.randint(0, 59)))
    forms = (
        clock(hour, minute),
        clock(hour, minute, rng.choice(("am", "pm"))),
        clock_phrase(hour, 5 * rng.randint(0, 11)),
        f"{clock_phrase(hour, 0)} in the {rng.choice(('morning', 'afternoon', 'evening'))}",
        clock(rng.randint(13, 23), rng.randint(1, 59)),
        rng.choice(("noon", "midnight")),
    )
    return Saying(rng.choices(forms, weights=(6, 6, 5, 2, 1, 1))[0])


def amount(rng: random.Random) -> Saying:
    """Money: in full, as at a till, round, and in large sums."""
    sign = rng.choice(("$", "$", "$", *CURRENCIES))
    cents = rng.randint(1, 20_000)
    units = CURRENCIES[sign].units
    forms = (
        money(cents, sign, with_and=rng.random() < 0.7),
        short_money(cents, sign),
        money(100 * _magnitude(rng), sign),
        f"{cardinal(rng.randint(2, 900))} {rng.choice(('thousand', 'million'))} {units}",
    )
    return Saying(rng.choices(forms, weights=(4, 2, 4, 1))[0])


def name(rng: random.Random) -> Saying:
    """Names of people and places."""
    given, family, place = rng.choice(GIVEN), rng.choice(FAMILY), rng.choice(PLACES)
    forms = (
        f"{given} {family}",
        f"{rng.choice(TITLES)} {family}",
        f"{given} {rng.choice(GIVEN)} {family}",
        f"{given} {family} from {place}",
        f"{given} and {rng.choice(GIVEN)}",
        f"my name is {given} {family}",
        f"{given}",
        place,
        f"from {place} to {rng.choice(PLACES)}",
    )
    return Saying(rng.choices(forms, weights=(5, 2, 1, 1, 1, 1, 1, 1, 1))[0])


def spelling(rng: random.Random) -> Saying:
    """Letters one by one: a name after itself, a few at random, or mixed with digits."""
    spelled = rng.choice((*GIVEN, *FAMILY)).replace("'", "")
    mixed = " ".join(
        rng.choice(DIGITS) if rng.random() < 0.4 else letters(rng.choice(LETTERS))
        for _ in range(rng.randint(3, 7))
    )
    forms = (
        letters("".join(rng.choices(LETTERS, k=rng.randint(1, 6)))),
        letters(spelled),
        f"{spelled}, {letters(spelled)}",
        mixed,
    )
    return Saying(rng.choices(forms, weights=(4, 2, 2, 2))[0])
