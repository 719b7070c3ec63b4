"""Lists of entities as requests write them: what is read, and what is refused by name."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.streaming.entities import (
    MOST_LETTERS_EACH,
    MOST_MEMBERS,
    MOST_WORDS_EACH,
    NO_ENTITIES,
    Entities,
    parse_entities,
    read_entities,
)
from earshot.streaming.errors import InvalidStreamConfig

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_members_share_their_class_alike_or_by_weight() -> None:
    found = parse_entities('{"name": [" Kearny ", "oakes"], "drink": {"latte": 3, "mocha": 1.0}}')
    assert found.classes == ("drink", "name")
    assert list(found.shares()) == [
        ("drink", "latte", 0.75),
        ("drink", "mocha", 0.25),
        ("name", "Kearny", 0.5),
        ("name", "oakes", 0.5),
    ]


def test_keys_that_are_one_name_are_refused() -> None:
    with pytest.raises(InvalidStreamConfig, match="'1' comes twice"):
        read_entities({1: ["a"], "1": ["b"]})


def test_weights_whose_sum_is_no_number_share_their_class() -> None:
    found = parse_entities('{"name": {"a": 1e308, "b": 1e308, "c": 1e303}}')
    shares = [share for _, _, share in found.shares()]
    assert shares == pytest.approx([0.5, 0.5, 5e-6], rel=1e-5)


def test_a_member_may_be_several_words_with_one_space_between() -> None:
    found = parse_entities('{"city": ["San  Francisco ", "kearny"], "x": {"a\\tb\u00a0c": 2}}')
    assert [text for _, text, _ in found.shares()] == ["San Francisco", "kearny", "a b c"]


def test_none_are_named_by_an_empty_mapping() -> None:
    assert parse_entities("{}") == NO_ENTITIES
    assert not NO_ENTITIES


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("name=kearny", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('["kearny"]', "a mapping is wanted"),
        ("null", "a mapping is wanted"),
        ('{"Name": ["a"]}', "'Name' is no name of a class"),
        ('{"s": ["a"]}', "'s' is no name of a class"),
        ('{"": ["a"]}', "'' is no name of a class"),
        ('{"' + "n" * (MOST_LETTERS_EACH + 1) + '": []}', "the name of a class is longer than"),
        ('{"name": ["a"], "name": ["b"]}', "'name' comes twice"),
        ('{"name": {"a": 1, "a": 5}}', "'a' comes twice"),
        ('{"name": []}', "name has no members"),
        ('{"name": {}}', "name has no members"),
        ('{"name": "kearny"}', "name wants a list of members"),
        ('{"name": [1]}', "a member of name is no text"),
        ('{"name": ["a", "A"]}', "name has the member 'A' twice"),
        ('{"name": [""]}', "member 1 of name has no words"),
        ('{"name": ["a", " \\t "]}', "member 2 of name has no words"),
        ('{"name": ["new york", "New  York"]}', "name has the member 'New York' twice"),
        ('{"name": ["a\\u0007 b"]}', "of name is not printable"),
        ('{"name": ["a\\ud800"]}', "of name is not printable"),
        (
            json.dumps({"name": [" ".join("a" * (MOST_WORDS_EACH + 1))]}),
            "'a a a a a a a a a a a' of name has 11 words, 10 are allowed",
        ),
        ('{"name": {"a": NaN}}', "must be numbers above 0"),
        ('{"name": {"a": Infinity}}', "must be numbers above 0"),
        ('{"name": {"a": 0}}', "must be numbers above 0"),
        ('{"name": {"a": -1, "b": 1}}', "must be numbers above 0"),
        ('{"name": {"a": 1e-300, "b": 1}}', "times apart"),
        ('{"name": {"a": true}}', "the weight of 'a' is no number"),
        ('{"name": {"a": "3"}}', "the weight of 'a' is no number"),
        ('{"name": {"a": 1' + "0" * 400 + "}}", "the weight of 'a' is too large"),
        ('{"name": ["' + "a" * (MOST_LETTERS_EACH + 1) + '"]}', "longer than"),
        (json.dumps({f"c{n}": ["a"] for n in range(17)}), "17 classes, 16 are allowed"),
        (json.dumps({"name": [f"a{n}" for n in range(MOST_MEMBERS + 1)]}), "1001 members"),
        (json.dumps({"name": [f"{n:090}" for n in range(300)]}), "letters in all"),
    ],
)
def test_what_is_no_list_of_entities_is_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(InvalidStreamConfig, match="entities: ") as refused:
        parse_entities(text)
    assert why in str(refused.value)
    assert len(str(refused.value)) < 200


@given(found=ANY_JSON | st.dictionaries(st.text("ab_<> ", max_size=3), ANY_JSON, max_size=3))
def test_whatever_comes_is_read_or_refused(found: object) -> None:
    try:
        read = parse_entities(json.dumps(found))
    except InvalidStreamConfig:
        return
    assert isinstance(read, Entities)
    assert sum(share for _, _, share in read.shares()) == pytest.approx(len(read.classes))
