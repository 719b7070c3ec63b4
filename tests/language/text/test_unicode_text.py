"""Texts that are no Unicode are found."""

import json

import pytest

from earshot.language.text.unicode_text import is_unicode
from earshot.streaming.entities import parse_entities
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.stream_config import Boost


@pytest.mark.parametrize("text", ["", "tea", "Zoë", "今天", "😀", json.loads('"\\ud83d\\ude00"')])
def test_what_can_be_written_is(text: str) -> None:
    assert is_unicode(text)


HALF = json.loads('"\\ud800"')


def test_half_a_pair_is_none_and_neither_a_phrase_nor_a_member() -> None:
    assert not is_unicode(f"tea {HALF}")
    with pytest.raises(InvalidStreamConfig, match="none in Unicode"):
        Boost(HALF)
    with pytest.raises(InvalidStreamConfig, match="is not printable"):
        parse_entities('{"name": ["\\ud800"]}')
