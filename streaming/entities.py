"""Lists of entities: who or what may be said where a language model has a class of words.

``{"name": ["kearny", "john smith"], "product": {"latte": 3, "mocha": 1}}``: the class ``<name>`` of
the models that a request names, and its members, with weights or all alike.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from earshot.decoder_kernels.lm.class_names import MOST_CLASSES, is_class_name
from earshot.streaming.errors import InvalidStreamConfig

MOST_MEMBERS = 1000
"""Of all classes of one stream together: they hang at one node of the graph."""

MOST_LETTERS = 20_000
"""Of all members together."""

MOST_LETTERS_EACH = 100
MOST_WORDS_EACH = 10

MOST_APART = 1e6
"""The largest weight of a class by its smallest."""

_SHOWN = 80

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Entity:
    """A member of a class: its words with one space between. weight: of its share of the class."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True)
class Entities:
    """Members by class, the classes sorted.

    Raises InvalidStreamConfig for too many, for a class or a member that is none or comes twice,
    and for weights that are not above 0 and finite.
    """

    lists: tuple[tuple[str, tuple[Entity, ...]], ...] = ()

    def __post_init__(self) -> None:
        if len(self.lists) > MOST_CLASSES:
            raise _refused(f"{len(self.lists)} classes, {MOST_CLASSES} are allowed")
        for name, members in self.lists:
            if len(name) > MOST_LETTERS_EACH:
                raise _refused(f"the name of a class is longer than {MOST_LETTERS_EACH} letters")
            if not is_class_name(name):
                raise _refused(f"{name[:_SHOWN]!r} is no name of a class")
            _check_list(name, members)
        _check_sizes([entity.text for _, members in self.lists for entity in members])

    def __bool__(self) -> bool:
        return bool(self.lists)

    @property
    def classes(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(name for name, _ in self.lists)

    def shares(self) -> Iterable[tuple[str, str, float]]:
        """Class, text and share of the class of each member."""
        for name, members in self.lists:
            most = max(entity.weight for entity in members)  # the sum of weights may overflow
            parts = [entity.weight / most for entity in members]
            total = math.fsum(parts)
            for entity, part in zip(members, parts, strict=True):
                yield name, entity.text, part / total


def parse_entities(text: str) -> Entities:
    """Entities as JSON. Raises InvalidStreamConfig."""
    try:
        found = json.loads(text, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as error:
        raise _refused("this is no JSON") from error
    return read_entities(found)


def read_entities(found: object) -> Entities:
    """Entities of what JSON may hold. Raises InvalidStreamConfig."""
    if not isinstance(found, Mapping):
        raise _refused('a mapping is wanted, as {"name": ["kearny", "oakes"]}')
    lists = _without_repetition(
        (str(name), _members(str(name), listed)) for name, listed in found.items()
    )
    return Entities(tuple(sorted(lists.items())))


def _without_repetition(pairs: Iterable[tuple[str, _Value]]) -> dict[str, _Value]:
    """A dictionary of pairs, of which `dict` would keep the last with a name."""
    found: dict[str, _Value] = {}
    for name, value in pairs:
        if name in found:
            raise _refused(f"{name[:_SHOWN]!r} comes twice")
        found[name] = value
    return found


def _members(name: str, listed: object) -> tuple[Entity, ...]:
    if isinstance(listed, Mapping):
        return tuple(_entity(name, text, weight) for text, weight in listed.items())
    if isinstance(listed, list | tuple):
        return tuple(_entity(name, text, 1.0) for text in listed)
    raise _refused(f"{name[:_SHOWN]} wants a list of members, or members with weights")


def _entity(name: str, text: object, weight: object) -> Entity:
    if not isinstance(text, str):
        raise _refused(f"a member of {name[:_SHOWN]} is no text")
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise _refused(f"the weight of {text[:_SHOWN]!r} is no number")
    try:
        return Entity(" ".join(text.split()), float(weight))
    except OverflowError as error:
        raise _refused(f"the weight of {text[:_SHOWN]!r} is too large") from error


def _check_list(name: str, members: tuple[Entity, ...]) -> None:
    if not members:
        raise _refused(f"{name} has no members")
    seen: set[str] = set()
    for place, entity in enumerate(members, start=1):
        _check_text(name, place, entity.text)
        if entity.text.casefold() in seen:
            raise _refused(f"{name} has the member {entity.text!r} twice")
        seen.add(entity.text.casefold())
    weights = [entity.weight for entity in members]
    if not all(0.0 < weight < math.inf for weight in weights):  # written so that NaN fails
        raise _refused(f"the weights of {name} must be numbers above 0")
    if not max(weights) <= MOST_APART * min(weights):
        raise _refused(f"the weights of {name} are more than {MOST_APART:g} times apart")


def _check_text(name: str, place: int, text: str) -> None:
    if not text:
        raise _refused(f"member {place} of {name} has no words")
    if len(text) > MOST_LETTERS_EACH:
        raise _refused(f"member {place} of {name} is longer than {MOST_LETTERS_EACH} letters")
    if not text.isprintable():
        raise _refused(f"{text!r} of {name} is not printable")
    if (words := len(text.split())) > MOST_WORDS_EACH:
        raise _refused(f"{text!r} of {name} has {words} words, {MOST_WORDS_EACH} are allowed")


def _check_sizes(texts: list[str]) -> None:
    if len(texts) > MOST_MEMBERS:
        raise _refused(f"{len(texts)} members, {MOST_MEMBERS} are allowed")
    letters = sum(map(len, texts))
    if letters > MOST_LETTERS:
        raise _refused(f"members of {letters} letters in all, {MOST_LETTERS} are allowed")


def _refused(why: str) -> InvalidStreamConfig:
    return InvalidStreamConfig(f"entities: {why}")


NO_ENTITIES = Entities()
