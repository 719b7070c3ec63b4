"""Numbers as people say them in English: cardinals, ordinals, years, decimals, digits."""

import re

from earshot.language.errors import UnsayableText

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SMALL = (
    *DIGITS, "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
    "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
LARGE = ("thousand", "million", "billion", "trillion")
MAX_DIGITS = 3 * (len(LARGE) + 1)
"""Longer ones are said digit by digit."""
LIMIT = 10**MAX_DIGITS

_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_ROMAN = re.compile("(M{0,3})(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def cardinal(number: int, *, with_and: bool = False) -> str:
    """105 is "one hundred five", or "one hundred and five" `with_and` as the British say.

    Raises UnsayableText from a thousand trillion on.
    """
    if number < 0:
        return "minus " + cardinal(-number, with_and=with_and)
    if number >= LIMIT:
        raise UnsayableText(f"{number} is too large to be said as a number")
    joint = ["and"] if with_and else []
    words: list[str] = []
    for power in reversed(range(len(LARGE) + 1)):
        group = number // 1000**power % 1000
        if not group:
            continue
        if words and power == 0 and group < 100:
            words += joint
        words += _below_thousand(group, joint)
        words += [LARGE[power - 1]] if power else []
    return " ".join(words or [SMALL[0]])


def figures(digits: str) -> str:
    """``"104"`` is one hundred four; with a leading zero, or too long, digit by digit."""
    if len(digits) > MAX_DIGITS or (len(digits) > 1 and digits[0] == "0"):
        return digit_string(digits)
    return cardinal(int(digits))


def ordinal(number: int, *, with_and: bool = False) -> str:
    """23 is "twenty third". Raises UnsayableText like `cardinal`."""
    return as_ordinal(cardinal(number, with_and=with_and))


def as_ordinal(words: str) -> str:
    """The words of a number as those of its place: "twenty three" is "twenty third"."""
    *front, last = words.split()
    if last in _ORDINALS:
        return " ".join([*front, _ORDINALS[last]])
    return " ".join([*front, last[:-1] + "ieth" if last.endswith("y") else last + "th"])


def year(number: int, *, zero: str = "oh") -> str:
    """1905 is "nineteen oh five", 2004 "two thousand four", 2015 "twenty fifteen".

    `zero` may be "o", as some transcripts write it.
    """
    century, rest = divmod(number, 100)
    if not 1000 <= number <= 9999 or (century % 10 == 0 and rest < 10):
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {f'{zero} ' if rest < 10 else ''}{cardinal(rest)}"


def decade(number: int, *, zero: str = "oh") -> str:
    """1960 is "nineteen sixties", 1800 "eighteen hundreds"; whatever year it begins with."""
    *front, last = year(number, zero=zero).split()
    last = last[:-1] + "ies" if last.endswith("y") else last + "s"
    return " ".join([*front, last])


def digit_string(digits: str, *, zero: str = "zero") -> str:
    """Digit by digit; `zero` may be "oh"."""
    return " ".join(zero if digit == "0" else DIGITS[int(digit)] for digit in digits)


def decimal(digits: str) -> str:
    """3.14 is "three point one four". Raises UnsayableText like `cardinal`."""
    whole, _, fraction = digits.partition(".")
    words = [cardinal(int(whole))] if whole else []
    return " ".join([*words, "point", digit_string(fraction)])


def roman_value(numeral: str) -> int:
    """The value of a Roman numeral in capitals; 0 if it is none."""
    if _ROMAN.fullmatch(numeral) is None:
        return 0
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    after = [*values[1:], 0]
    return sum(-here if here < next_ else here for here, next_ in zip(values, after, strict=False))


def _below_thousand(number: int, joint: list[str]) -> list[str]:
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return _below_hundred(rest)
    return [SMALL[hundreds], "hundred", *([*joint, *_below_hundred(rest)] if rest else [])]


def _below_hundred(number: int) -> list[str]:
    if number < len(SMALL):
        return [SMALL[number]]
    tens, units = divmod(number, 10)
    return [TENS[tens - 2], *([SMALL[units]] if units else [])]
