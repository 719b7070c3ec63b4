"""Rows of the tables of settings and parameters: what they take, and where it lands."""

import math

import pytest

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.parts.option import Choice, Option, by_field

WEIGHT = Option("weight", "number", ("weights", "scorer"), low=0, high=10)
COUNT = Option("count", "integer", ("parts", "count"), low=1, high=9)
SWITCH = Option("shout", "boolean", ("parts", "loud"))


@pytest.mark.parametrize(
    ("option", "value"), [(WEIGHT, 0), (WEIGHT, 10.0), (COUNT, 1), (COUNT, 9), (SWITCH, False)]
)
def test_values_of_its_kind_and_range_pass(option, value):
    option.check(value)


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        (WEIGHT, math.nan, "weight is nan, must be 0 to 10"),
        (WEIGHT, -0.1, "weight is -0.1"),
        (WEIGHT, True, "weight is True"),
        (WEIGHT, "1", "weight is '1'"),
        (COUNT, 1.0, "count is 1.0"),
        (COUNT, 10, "count is 10, must be 1 to 9"),
        (SWITCH, 1, "shout is 1, must be True or False"),
    ],
)
def test_others_are_refused(option, value, complaint):
    with pytest.raises(InvalidStreamConfig, match=complaint):
        option.check(value)


@pytest.mark.parametrize("value", ["nowhere", 1, None])
def test_other_words_than_those_of_a_choice_are_refused(value):
    choice = Choice("where", ("here", "there"))
    choice.check("there")
    with pytest.raises(InvalidStreamConfig, match=f"where is {value!r}, none of here, there"):
        choice.check(value)


def test_values_land_in_their_fields_and_those_not_named_nowhere():
    values = {"weight": 0.5, "count": None, "shout": False, "other": 1}
    found = by_field((WEIGHT, COUNT, SWITCH), values)
    assert found == {"weights": {"scorer": 0.5}, "parts": {"loud": False}}
