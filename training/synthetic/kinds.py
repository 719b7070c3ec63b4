"""The kinds of things that are said, by name."""

from __future__ import annotations

import random
from collections.abc import Callable

from earshot.training.synthetic import sayings
from earshot.training.synthetic.coffee import coffee_order
from earshot.training.synthetic.commands import command, wake_phrase
from earshot.training.synthetic.saying import Saying

SENTENCES = "sentences"  # from the user's text; the others are grammars
GRAMMARS: dict[str, Callable[[random.Random], Saying]] = {
    "names": sayings.name,
    "numbers": sayings.number,
    "dates": sayings.calendar_date,
    "times": sayings.time_of_day,
    "money": sayings.amount,
    "commands": command,
    "coffee": coffee_order,
    "wake": wake_phrase,
    "digits": sayings.digit_strings,
    "letters": sayings.spelling,
}
# Shares of the recordings. Sentences are the longest: they make about two thirds of the hours.
BALANCED = {
    SENTENCES: 8.0,
    "commands": 2.0,
    **dict.fromkeys(("coffee", "digits", "letters", "wake"), 1.5),
    **dict.fromkeys(("names", "numbers", "dates", "times", "money"), 1.0),
}
