"""The kinds of things that are said, by name."""

from __future__ import annotations

import random
from collections.abc import Callable

from earshot.training.synthetic.sayings import entities
from earshot.training.synthetic.sayings.coffee import coffee_order
from earshot.training.synthetic.sayings.commands import command, wake_phrase
from earshot.training.synthetic.sayings.saying import Saying

SENTENCES = "sentences"  # from the user's text; the others are grammars
GRAMMARS: dict[str, Callable[[random.Random], Saying]] = {
    "names": entities.name,
    "numbers": entities.number,
    "dates": entities.calendar_date,
    "times": entities.time_of_day,
    "money": entities.amount,
    "commands": command,
    "coffee": coffee_order,
    "wake": wake_phrase,
    "digits": entities.digit_strings,
    "letters": entities.spelling,
}
# Shares of the recordings. Sentences are the longest: they make about two thirds of the hours.
BALANCED = {
    SENTENCES: 8.0,
    "commands": 2.0,
    **dict.fromkeys(("coffee", "digits", "letters", "wake"), 1.5),
    **dict.fromkeys(("names", "numbers", "dates", "times", "money"), 1.0),
}
