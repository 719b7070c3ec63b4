"""Commands to an assistant, by templates whose gaps other sayings fill."""

from __future__ import annotations

import random
import re

from earshot.language.text.names import GIVEN, PLACES
from earshot.language.text.number_words import cardinal
from earshot.training.synthetic.sayings import entities
from earshot.training.synthetic.sayings.saying import Saying

WAKE_PHRASES = ("alexa", "computer", "jarvis", "smart mirror", "snowboy", "view glass")

TEMPLATES = """
turn {switch} the {device}
turn {switch} the {device} in the {room}
turn the {device} in the {room} {switch}
turn {direction} the {amount}
set the {amount} to {percent}
set the {amount} in the {room} to {small}
dim the lights in the {room}
open the {opening}
close the {opening}
lock the {opening}
is the {opening} locked
what time is it
what's the time in {place}
what day is it {when}
what's the weather {when}
what's the weather like in {place}
will it rain {when}
how warm is it in the {room}
how far is it to {place}
how do I get to {place}
book a table for {small} at {time}
book a flight from {place} to {place} on {date}
set a timer for {small} minutes
set an alarm for {time}
wake me up at {time}
cancel the alarm at {time}
remind me to {task} at {time}
remind me on {date} to {task}
what's on my calendar {when}
move my meeting with {name} to {time}
call {name}
call {digits}
call {name} on the phone in the {room}
send a message to {name}
tell {name} that I'll be there at {time}
read my messages
answer the phone
play some music
play the next song
play {music}
pause the music
stop
start again
go back
go on
never mind
turn it {direction}
skip this one
add {food} to the shopping list
what's on the shopping list
how many calories are in {food}
how do you spell {name}
how much is {sum} {operation} {sum}
how much is {money} in {currency}
find a {shop} near {place}
show me the way home
start the {machine}
stop the {machine}
take a picture
yes
no
okay
cancel
help
thank you
good morning
good night
""".strip().split("\n")

GAPS: dict[str, tuple[str, ...]] = {
    gap: tuple(choices.split(", "))
    for gap, choices in {
        "switch": "on, off",
        "direction": "up, down",
        "device": (
            "light, lights, lamp, fan, heater, heating, radio, television, air conditioning, "
            "coffee machine, oven, music"
        ),
        "room": (
            "kitchen, living room, bedroom, bathroom, hall, garage, garden, office, dining "
            "room, basement"
        ),
        "amount": "volume, brightness, temperature, heating, light",
        "opening": (
            "door, front door, back door, garage door, window, windows, curtains, blinds, gate"
        ),
        "when": (
            "today, tomorrow, tonight, this morning, this evening, this weekend, next week, "
            "on Monday, on Friday"
        ),
        "task": (
            "buy milk, call the doctor, take out the trash, feed the cat, water the plants, "
            "pay the bills, go to bed, take my medicine"
        ),
        "food": (
            "milk, bread, butter, eggs, apples, bananas, cheese, rice, coffee, tea, sugar, "
            "potatoes, tomatoes, onions, chicken, orange juice"
        ),
        "music": (
            "some jazz, classical music, my favorite songs, something quiet, the news, the "
            "radio, rock music, the Beatles"
        ),
        "operation": "plus, minus, times, divided by",
        "currency": "dollars, euros, pounds, yen",
        "shop": (
            "restaurant, pharmacy, hotel, bakery, gas station, supermarket, bank, post "
            "office, hospital"
        ),
        "machine": "washing machine, dishwasher, dryer, vacuum cleaner, coffee machine, stopwatch",
    }.items()
}


def _filled(gap: str, rng: random.Random) -> str:
    if gap in GAPS:
        return rng.choice(GAPS[gap])
    fillings = {
        "place": lambda: rng.choice(PLACES),
        "name": lambda: rng.choice(GIVEN),
        "small": lambda: cardinal(rng.randint(1, 60)),
        "sum": lambda: cardinal(rng.randint(1, 200)),
        "percent": lambda: cardinal(5 * rng.randint(1, 20)) + rng.choice((" percent", "")),
        "time": lambda: entities.time_of_day(rng).spoken,
        "date": lambda: entities.day(rng).spoken,
        "digits": lambda: entities.telephone(rng).spoken,
        "money": lambda: entities.amount(rng).spoken,
    }
    return fillings[gap]()


def command(rng: random.Random) -> Saying:
    """Draw a command: "set the volume to thirty percent"; one in four politely."""
    words = re.sub(r"{(\w+)}", lambda gap: _filled(gap[1], rng), rng.choice(TEMPLATES))
    return Saying(rng.choice(("please {}", "{} please", "{}", "{}", "{}", "{}")).format(words))


def wake_phrase(rng: random.Random) -> Saying:
    """A wake phrase alone, twice, or before a command."""
    phrase = rng.choice(WAKE_PHRASES)
    share = rng.random()
    if share < 0.7:
        return Saying(phrase)
    return Saying(f"{phrase}, {phrase if share < 0.75 else command(rng).spoken}")
