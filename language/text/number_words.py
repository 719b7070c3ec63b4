"""Numbers as people say them in English."""

import re

SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
LARGE = ("thousand", "million", "billion", "trillion")
MAX_DIGITS = 15
"""Longer ones are said digit by digit."""

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


def cardinal(digits: str) -> list[str]:
    """``"104"`` is one hundred four; with a leading zero, or too long, digit by digit."""
    if len(digits) > MAX_DIGITS or (len(digits) > 1 and digits[0] == "0"):
        return [SMALL[int(digit)] for digit in digits]
    number = int(digits)
    words = _below_thousand(number % 1000)
    for name in LARGE:
        number //= 1000
        if group := _below_thousand(number % 1000):
            words = [*group, name, *words]
    return words or [SMALL[0]]


def ordinal(digits: str) -> list[str]:
    """``"21"`` is twenty first."""
    *before, last = cardinal(digits)
    if last in _ORDINALS:
        return [*before, _ORDINALS[last]]
    return [*before, last[:-1] + "ieth" if last.endswith("y") else last + "th"]


def year(digits: str) -> list[str]:
    """Four digits as a year: ``"1604"`` is sixteen o four, ``"1900"`` nineteen hundred."""
    century, rest = digits[:2], digits[2:]
    if century[0] == "0" or (century[1] == "0" and rest[0] == "0"):
        return cardinal(digits)
    if rest == "00":
        return [*cardinal(century), "hundred"]
    return [*cardinal(century), *(["o"] if rest[0] == "0" else []), *cardinal(str(int(rest)))]


def roman_value(numeral: str) -> int:
    """The value of a Roman numeral in capitals; 0 if it is none."""
    if _ROMAN.fullmatch(numeral) is None:
        return 0
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    after = [*values[1:], 0]
    return sum(-here if here < next_ else here for here, next_ in zip(values, after, strict=False))


def _below_thousand(number: int) -> list[str]:
    hundreds, rest = divmod(number, 100)
    words = [SMALL[hundreds], "hundred"] if hundreds else []
    if 0 < rest < 20:
        words.append(SMALL[rest])
    elif rest:
        words.append(TENS[rest // 10 - 2])
        words += [SMALL[rest % 10]] if rest % 10 else []
    return words
