"""Amounts of money as people say them."""

from __future__ import annotations

from dataclasses import dataclass

from earshot.language.text.number_words import cardinal


@dataclass(frozen=True)
class Currency:
    """Names of a currency's unit and of its hundredth, one of them and many."""

    unit: str
    units: str
    cent: str
    cents: str


CURRENCIES = {
    "$": Currency("dollar", "dollars", "cent", "cents"),
    "£": Currency("pound", "pounds", "penny", "pence"),
    "€": Currency("euro", "euros", "cent", "cents"),
}


def money(cents: int, sign: str, *, with_and: bool = True) -> str:
    """1250 `cents` of "$" is "twelve dollars and fifty cents"."""
    currency = CURRENCIES[sign]
    units, rest = divmod(cents, 100)
    parts = []
    if units or not rest:
        parts.append(f"{cardinal(units)} {currency.unit if units == 1 else currency.units}")
    if rest:
        parts.append(f"{cardinal(rest)} {currency.cent if rest == 1 else currency.cents}")
    return (" and " if with_and else " ").join(parts)


def short_money(cents: int, sign: str) -> str:
    """Say a price at a till: 1250 `cents` of "$" is "twelve fifty"; `money` where unclear."""
    units, rest = divmod(cents, 100)
    if not units or rest < 10:
        return money(cents, sign)
    return f"{cardinal(units)} {cardinal(rest)}"
