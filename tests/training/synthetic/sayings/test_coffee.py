"""Coffee orders and their labels."""

from __future__ import annotations

import random
import re

from earshot.training.synthetic.sayings.coffee import AFTER, AMOUNTS, BEFORE, DRINKS, coffee_order


def test_an_order_says_every_slot_and_nothing_else_of_the_menu() -> None:
    rng = random.Random(3)
    for _ in range(300):
        order = coffee_order(rng)
        rest = order.text
        for value in sorted(order.slots.values(), key=len, reverse=True):
            assert value in rest
            rest = rest.replace(value, "", 1)
        assert re.search("roast|ounce|shot|milk|cream|sugar|sweetener|latte|mocha", rest) is None


def test_all_slots_and_values_come_up() -> None:
    rng = random.Random(3)
    orders = [coffee_order(rng).slots for _ in range(3000)]
    for slot, values in (("coffeeDrink", DRINKS), *BEFORE.items()):
        assert {order.get(slot) for order in orders} - {None} == set(values)
    for slot, values in AFTER.items():
        said = {order.get(slot) for order in orders} - {None}
        assert said == {amount + value for amount in AMOUNTS for value in values}


def test_an_article_fits_its_word() -> None:
    rng = random.Random(3)
    orders = " | ".join(coffee_order(rng).spoken for _ in range(1000))
    assert " an eight ounce" in orders
    assert re.search(r"\ba [aei]|\ban [^aei]", orders) is None
