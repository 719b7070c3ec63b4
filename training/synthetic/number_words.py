"""Numbers as people say them: cardinals, ordinals, years, decimals and digit strings."""

from __future__ import annotations

from earshot.training.synthetic.errors import UnsayableText

# fmt: off
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SMALL = (
    *DIGITS, "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
    "eighteen", "nineteen",
)
TENS = (
    "zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)
# fmt: on
SCALES = ("", "thousand", "million", "billion", "trillion")
LIMIT = 1000 ** len(SCALES)
IRREGULAR_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def _below_hundred(number: int) -> list[str]:
    if number < len(SMALL):
        return [SMALL[number]]
    tens, units = divmod(number, 10)
    return [TENS[tens], *([SMALL[units]] if units else [])]


def _below_thousand(number: int, joint: list[str]) -> list[str]:
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return _below_hundred(number)
    return [SMALL[hundreds], "hundred", *([*joint, *_below_hundred(rest)] if rest else [])]


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
    for power in reversed(range(len(SCALES))):
        group = number // 1000**power % 1000
        if not group:
            continue
        if words and power == 0 and group < 100:
            words += joint
        words += _below_thousand(group, joint)
        words += [SCALES[power]] if power else []
    return " ".join(words or ["zero"])


def ordinal(number: int, *, with_and: bool = False) -> str:
    """23 is "twenty third". Raises UnsayableText like `cardinal`."""
    *front, last = cardinal(number, with_and=with_and).split()
    if last in IRREGULAR_ORDINALS:
        last = IRREGULAR_ORDINALS[last]
    else:
        last = last[:-1] + "ieth" if last.endswith("y") else last.removesuffix("t") + "th"
    return " ".join([*front, last])


def year(number: int) -> str:
    """1905 is "nineteen oh five", 2004 "two thousand four", 2015 "twenty fifteen"."""
    century, rest = divmod(number, 100)
    if not 1000 <= number <= 9999 or (century % 10 == 0 and rest < 10):
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def decade(number: int) -> str:
    """1960 is "nineteen sixties", 1800 "eighteen hundreds"; `number` ends in a zero."""
    *front, last = year(number).split()
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
