"""Which pairs of numbers are years.

By itself "nineteen fifty" may as well be a time, a price or two numbers: the words around it tell.
"""

from earshot.language.itn.spoken_numbers import SCALES, Run

MONTHS = frozenset((
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
))  # fmt: skip
_CENTURIES = range(17, 21)

_BEFORE_YEARS = MONTHS | {
    "in", "since", "by", "of", "during", "circa", "year", "dated",
    "spring", "summer", "autumn", "winter",
}  # fmt: skip
_BEFORE_TIMES_TOO = frozenset(("after", "before", "until", "till"))
_COUNTED = SCALES | {
    "dollar", "dollars", "cent", "cents", "percent", "per", "hundred", "times",
    "second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks",
    "month", "months", "year", "years", "inch", "foot", "feet", "mile", "miles", "pound", "pounds",
}  # fmt: skip


def year_of(run: Run) -> str:
    """The century, then two digits, as in "nineteen ninety eight"; else empty."""
    century, *rest = run.numbers
    if len(rest) != 1 or rest[0].is_ordinal or int(century.value) not in _CENTURIES:
        return ""
    return century.text + rest[0].text if len(century.text) == len(rest[0].text) == 2 else ""


def comes_before(word: str, year: str) -> bool:
    """Whether ``word`` leaves no doubt: "in" does not, "after" may come before a time below :60."""
    return word in _BEFORE_YEARS or (word in _BEFORE_TIMES_TOO and int(year[2:]) > 59)


def is_counted(word: str) -> bool:
    """Whether ``word`` takes the number before it: "twenty twenty dollar bills"."""
    return word in _COUNTED
