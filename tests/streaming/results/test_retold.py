"""Words of a hypothesis that are written otherwise."""

from types import SimpleNamespace

import pytest

from earshot.streaming.results.hypothesis import SpokenWord
from earshot.streaming.results.retold import retold, written_as


def heard(text: str, *words: str):
    spoken = [SpokenWord(word, place, place + 1, False) for place, word in enumerate(words)]
    return SimpleNamespace(text=text, words=spoken, tokens=(7, 8), score=-1.0)


def test_words_change_and_what_stands_between_them_stays():
    told = retold(heard("ja 你好", "ja", "你", "好"), ["Ja,", "你", "好。"])
    assert told.text == "Ja, 你好。"
    assert [word.text for word in told.words] == ["Ja,", "你", "好。"]
    assert [word.first for word in told.words] == [0, 1, 2]
    assert (told.tokens, told.score) == ((7, 8), -1.0)


def test_nothing_said_stays_nothing():
    assert retold(heard(""), []).text == ""


def test_no_word_is_added_or_lost():
    with pytest.raises(ValueError, match="shorter"):
        retold(heard("a b", "a", "b"), ["A"])


def test_a_word_told_otherwise_loses_its_written_form_and_others_keep_theirs():
    written = written_as(heard("oh mister", "oh", "mister"), ["Oh,", "Mr."])
    told = retold(written, ["oh", "MISTER"])
    assert [(word.text, word.written) for word in told.words] == [("oh", "Oh,"), ("MISTER", None)]


def test_a_written_form_stands_beside_a_word_whose_text_stays():
    told = written_as(heard("oh mister brown", "oh", "mister", "brown"), ["Oh,", "Mr.", None])
    assert told.text == "oh mister brown"
    assert [(word.text, word.written) for word in told.words] == [
        ("oh", "Oh,"),
        ("mister", "Mr."),
        ("brown", None),
    ]
