"""Amounts of money."""

from __future__ import annotations

import pytest

from earshot.language.text.money_words import money, short_money


@pytest.mark.parametrize(
    ("cents", "sign", "words"),
    [
        (1250, "$", "twelve dollars and fifty cents"),
        (101, "$", "one dollar and one cent"),
        (5, "£", "five pence"),
        (100, "£", "one pound"),
        (0, "€", "zero euros"),
    ],
)
def test_money_is_said_in_full(cents: int, sign: str, words: str) -> None:
    assert money(cents, sign) == words


def test_money_at_a_till_is_short_where_that_is_clear() -> None:
    assert short_money(1250, "$") == "twelve fifty"
    assert short_money(1205, "$") == "twelve dollars and five cents"
    assert short_money(50, "£") == "fifty pence"
