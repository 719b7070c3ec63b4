"""The grammars: what they say can be written, is varied, and depends on the seed alone."""

from __future__ import annotations

import random
import re

import pytest

from earshot.language.text.names import FAMILY, GIVEN, PLACES
from earshot.language.text.number_words import DIGITS
from earshot.training.synthetic.sayings import entities
from earshot.training.synthetic.sayings.kinds import BALANCED, GRAMMARS, SENTENCES
from earshot.training.synthetic.sayings.saying import Saying

DRAWS = 300


def drawn(kind: str) -> list[Saying]:
    rng = random.Random(5)
    return [GRAMMARS[kind](rng) for _ in range(DRAWS)]


@pytest.mark.parametrize("kind", GRAMMARS)
def test_engines_are_told_words_and_punctuation_alone(kind: str) -> None:
    for saying in drawn(kind):
        assert re.fullmatch(r"[A-Za-z' .,]+", saying.spoken)
        assert re.fullmatch(r"[a-z']+( [a-z']+)*", saying.text)


@pytest.mark.parametrize("kind", GRAMMARS)
def test_a_grammar_depends_on_its_generator_alone(kind: str) -> None:
    assert drawn(kind) == drawn(kind)


@pytest.mark.parametrize(("kind", "least"), [("wake", 30), ("digits", 150), ("letters", 200)])
def test_short_kinds_are_varied(kind: str, least: int) -> None:
    assert len({saying.text for saying in drawn(kind)}) > least


def test_every_kind_has_a_share_of_a_balanced_set() -> None:
    assert set(BALANCED) == {SENTENCES, *GRAMMARS}


def test_digits_are_mostly_digits() -> None:
    words = [word for saying in drawn("digits") for word in saying.text.split()]
    assert set(words) >= set(DIGITS)
    assert sum(word in DIGITS for word in words) > 0.8 * len(words)


def test_a_spelled_name_has_the_letters_of_the_name() -> None:
    spelled = [
        saying.spoken for saying in drawn("letters") if re.match(r"[A-Z][a-z]", saying.spoken)
    ]
    assert spelled
    for name, _, letters in (text.partition(", ") for text in spelled):
        assert letters.replace(". ", "").rstrip(".") == name.upper()


def test_dates_are_days_that_there_are() -> None:
    rng = random.Random(5)
    days = " | ".join(entities.day(rng).text for _ in range(2000))
    assert "february twenty ninth" in days
    for month in ("february", "april", "june", "september", "november"):
        assert f"{month} thirty first" not in days
        assert f"thirty first of {month}" not in days


def test_names_are_written_with_letters_and_no_name_twice() -> None:
    for names in (GIVEN, FAMILY, PLACES):
        assert len(set(names)) == len(names) > 100
        assert all(re.fullmatch(r"[A-Z][A-Za-z']+", name) for name in names)
