"""Capitals of boosted phrases."""

import pytest

from earshot.streaming.boosting.asked_capitals import AskedCapitals


def asked(phrases: list[str], text: str, boosted: str = "") -> list[str | None]:
    texts = text.split()
    chosen = boosted.split() or texts
    return AskedCapitals(phrases).of(texts, [each in chosen for each in texts])


def test_a_phrase_has_the_requests_capitals_and_other_words_have_none() -> None:
    assert asked(["Dan Gylbert"], "so dan gylbert said") == [None, "Dan", "Gylbert", None]


def test_a_phrase_in_small_letters_says_nothing() -> None:
    assert asked(["dan gylbert"], "dan gylbert") == [None, None]


def test_marks_of_a_model_are_no_part_of_a_phrase_that_has_none() -> None:
    assert asked(["Dan Gylbert"], "dan gylbert, Dan, Gylbert.") == ["Dan", "Gylbert"] * 2
    assert asked(["Dr. Gylbert"], "Dr. gylbert? dr.") == ["Dr.", "Gylbert", None]
    assert asked(["Yahoo!"], "yahoo! yahoo") == ["Yahoo!", None]


def test_what_a_model_wrote_otherwise_is_as_asked_in_small_letters_too() -> None:
    assert asked(["brown sugar"], "Brown sugar, sugar") == ["brown", "sugar", None]
    assert asked(["dr. brown"], "Dr. BROWN") == ["dr.", "brown"]
    assert asked(["brown sugar"], "Brown tea.", boosted="tea.") == [None, None]


def test_a_word_that_no_boost_covers_keeps_what_it_has() -> None:
    assert asked(["May Day"], "may day may", boosted="day") == [None, None, None]


def test_a_phrase_that_is_there_in_part_is_not_it() -> None:
    assert asked(["New York"], "new york new") == ["New", "York", None]


def test_the_longest_phrase_counts() -> None:
    phrases = ["ice", "ICE", "Ice Cream Van"]
    assert asked(phrases, "ice cream van ice") == ["Ice", "Cream", "Van", "ICE"]


def test_of_two_phrases_that_differ_in_case_the_last_counts() -> None:
    assert asked(["ACME", "Acme"], "acme") == ["Acme"]


@pytest.mark.parametrize("phrase", ["Zoë", "ÉCLAIR", "Straße"])
def test_letters_beyond_ascii_have_case_too(phrase: str) -> None:
    assert asked([phrase], phrase.lower()) == [phrase]


def test_nothing_asked_and_nothing_said_are_nothing() -> None:
    assert asked([], "ice") == [None]
    assert asked(["Ice"], "") == []
