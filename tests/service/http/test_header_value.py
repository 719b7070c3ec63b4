import re

import pytest
from h11._abnf import field_value
from hypothesis import given
from hypothesis import strategies as st

from earshot.service.http.header_value import MAX_CHARS, header_list, header_value

LEGAL = re.compile(field_value.encode("ascii"))  # by which h11 refuses to send a header


def is_legal(value):
    return LEGAL.fullmatch(value.encode("ascii")) is not None


@given(st.text(max_size=2 * MAX_CHARS))
def test_any_message_is_a_legal_value(message):
    value = header_value(message)
    assert is_legal(value)
    assert len(value) <= MAX_CHARS


@given(st.lists(st.text(max_size=MAX_CHARS), max_size=20))
def test_any_messages_are_a_legal_value(messages):
    value = header_list(messages)
    assert is_legal(value)
    assert len(value) <= MAX_CHARS


@pytest.mark.parametrize("space", range(MAX_CHARS - 8, MAX_CHARS + 2))
def test_a_message_cut_at_a_space_has_none_at_its_end(space):
    message = "x" * space + " " + "y" * MAX_CHARS
    assert is_legal(header_value(message))
    assert is_legal(header_list([message, message]))


def test_what_fits_is_whole():
    assert header_value(" a\nb é ") == "a?b ?"
    assert header_value("x" * MAX_CHARS) == "x" * MAX_CHARS
    assert header_list(["one", "two"]) == "one; two"


def test_a_message_that_is_cut_says_so():
    assert header_value("x" * (MAX_CHARS + 1)) == "x" * (MAX_CHARS - 4) + " ..."


@pytest.mark.parametrize("count", [6, 30, 1000])
def test_messages_without_room_are_counted(count):
    messages = [f"{number:04d} {'x' * 95}" for number in range(count)]
    value = header_list(messages)
    told = value.split(" ... and ")[0].split("; ")
    assert told == messages[: len(told)]
    assert len(told) == 4
    assert value.endswith(f" ... and {count - len(told)} more")


def test_a_single_message_without_room_is_told_in_part():
    assert re.fullmatch(r"x{400,} \.\.\.", header_list(["x" * 600]))
    assert re.fullmatch(r"x{400,} \.\.\. and 1 more", header_list(["x" * 600, "y"]))
