"""Coffee orders, with the labels that a spoken-language understanding test gives them."""

from __future__ import annotations

import random

from earshot.training.synthetic.sayings.saying import Saying

OPENINGS = (
    "can I get", "can I have", "may I have", "could I have", "I'd like", "I'll have", "I want",
    "get me", "give me", "make me", "brew",
)  # fmt: skip
DRINKS = (
    "americano", "cappuccino", "coffee", "drip coffee", "espresso", "house coffee", "iced coffee",
    "iced mocha", "latte", "mocha",
)  # fmt: skip
BEFORE = {
    "size": (
        *("small", "medium", "large"),
        *("eight ounce", "twelve ounce", "sixteen ounce", "twenty ounce"),
    ),
    "numberOfShots": ("single shot", "double shot", "triple shot"),
    "roast": ("light roast", "medium roast", "dark roast"),
}
AFTER = {
    "milkAmount": ("milk", "whole milk", "skim milk", "soy milk", "almond milk", "cream"),
    "sugarAmount": ("sugar", "brown sugar", "sweetener"),
}
AMOUNTS = ("a lot of ", "lots of ", "some ", "a bit of ", "a little bit of ", "", "", "", "")
ARTICLES = ("a", "a", "a", "a", "one", "the")


def coffee_order(rng: random.Random) -> Saying:
    """Draw an order: "can I get a large dark roast latte with a lot of soy milk"."""
    slots = {"coffeeDrink": rng.choice(DRINKS)}
    before = [slot for slot in BEFORE if rng.random() < 0.5]
    rng.shuffle(before)
    slots |= {slot: rng.choice(BEFORE[slot]) for slot in before}
    words = " ".join([*(slots[slot] for slot in before), slots["coffeeDrink"]])
    after = [slot for slot in AFTER if rng.random() < 0.5]
    rng.shuffle(after)
    slots |= {slot: rng.choice(AMOUNTS) + rng.choice(AFTER[slot]) for slot in after}
    article = rng.choice(ARTICLES)
    if article == "a" and words[0] in "aei":
        article = "an"
    extras = " and ".join(slots[slot] for slot in after)
    order = f"{rng.choice(OPENINGS)} {article} {words}" + (f" with {extras}" if extras else "")
    return Saying(order + rng.choice(("", "", "", " please")), slots)
