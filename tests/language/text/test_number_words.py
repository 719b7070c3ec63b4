"""Numbers as people say them."""

import pytest

from earshot.language.text.number_words import cardinal, ordinal, roman_value, year


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
        ("1" + 15 * "0", "one" + 15 * " zero"),
    ],
)
def test_cardinals(digits: str, words: str) -> None:
    assert " ".join(cardinal(digits)) == words


@pytest.mark.parametrize(
    ("digits", "words"),
    [("1", "first"), ("12", "twelfth"), ("20", "twentieth"), ("23", "twenty third"),
     ("100", "one hundredth"), ("1000", "one thousandth")],
)  # fmt: skip
def test_ordinals(digits: str, words: str) -> None:
    assert " ".join(ordinal(digits)) == words


@pytest.mark.parametrize(
    ("digits", "words"),
    [("1604", "sixteen o four"), ("1900", "nineteen hundred"), ("1984", "nineteen eighty four"),
     ("2005", "two thousand five"), ("1000", "one thousand"), ("1066", "ten sixty six")],
)  # fmt: skip
def test_years(digits: str, words: str) -> None:
    assert " ".join(year(digits)) == words


@pytest.mark.parametrize(
    ("numeral", "value"),
    [("I", 1), ("IV", 4), ("XIX", 19), ("XL", 40), ("MCMXCIV", 1994), ("IIX", 0), ("VV", 0),
     ("iv", 0), ("", 0)],
)  # fmt: skip
def test_roman_numerals(numeral: str, value: int) -> None:
    assert roman_value(numeral) == value


def test_each_number_has_its_own_words() -> None:
    assert len({tuple(cardinal(str(number))) for number in range(20_000)}) == 20_000
