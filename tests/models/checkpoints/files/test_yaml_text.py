"""YAML of foreign files: data and nothing else, no more of it than the text has."""

import pytest

from earshot.models.checkpoints.files.yaml_text import parse_yaml
from earshot.models.errors import CheckpointError, UnsafeCheckpoint


def test_a_mapping_is_read():
    text = "a: 1\nb: [x, 'y', 2.5, true, null]\nc: {d: 0x10}\n"
    assert parse_yaml(text, "x.yaml") == {"a": 1, "b": ["x", "y", 2.5, True, None], "c": {"d": 16}}


def test_what_an_alias_names_is_there_once():
    options = parse_yaml("a: &a [x]\nb: *a\nc: [*a, *a]", "x.yaml")
    assert options["b"] is options["a"]
    assert options["c"][1] is options["a"]


def test_merge_keys_are_refused():
    with pytest.raises(UnsafeCheckpoint, match=r"x\.yaml: merge keys"):
        parse_yaml("a: &a {b: c}\nd: {<<: *a}", "x.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000, "a: b: c", "? [a]\n: b", "a: !!python/name:os.system", "a: 9" + "9" * 5000,
        "a: 0x" + "f" * 5000, "\x00", "a: *b", "a: !!bool maybe", 'a: !!int ""', 'a: !!float ""',
        "a: !!timestamp abc", "a: 1" + ":59" * 200 + ".0",
    ],
    ids=[
        "nested", "colons", "key", "object", "digits", "hexadecimal", "zero", "alias", "bool",
        "int", "float", "timestamp", "sexagesimal",
    ],
)  # fmt: skip
def test_text_that_is_no_data_is_refused(text):
    with pytest.raises(CheckpointError, match=r"x\.yaml is not YAML"):
        parse_yaml(text, "x.yaml")


@pytest.mark.parametrize("text", ["", "- a", "3"])
def test_a_text_that_is_no_mapping_is_refused(text):
    with pytest.raises(CheckpointError, match=r"x\.yaml is not a mapping"):
        parse_yaml(text, "x.yaml")


def test_an_error_is_one_line():
    with pytest.raises(CheckpointError) as caught:
        parse_yaml("? [1]\n: b\n" * 3, "x.yaml")
    assert "\n" not in str(caught.value)
