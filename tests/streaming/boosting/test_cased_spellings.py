"""Capitals in which models that write some may write a phrase."""

import string

import pytest

from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.boosting.cased_spellings import cased_spellings

CASED = string.ascii_letters + "▁'é"


def spelled(phrase: str, letters: str = CASED) -> list[str]:
    tokenizer = CharTokenizer(UnitTable.of(letters, "letters"))
    return list(dict.fromkeys(map(tokenizer.decode, cased_spellings(phrase, tokenizer))))


@pytest.mark.parametrize(
    ("phrase", "spellings"),
    [
        ("acme", ["acme", "Acme", "ACME"]),
        ("McGee's", ["mcgee's", "Mcgee's", "MCGEE'S"]),
        ("brown Sugar", ["brown sugar", "Brown sugar", "Brown Sugar", "BROWN SUGAR"]),
        ("a", ["a", "A"]),
    ],
)
def test_a_phrase_may_be_written_small_or_begun_or_named_or_in_capitals(phrase, spellings):
    assert spelled(phrase) == spellings


def test_a_spelling_with_a_letter_that_the_model_lacks_in_one_case_is_written_otherwise():
    assert spelled("é") == ["é"]


@pytest.mark.parametrize("letters", [string.ascii_lowercase, string.ascii_uppercase, "一二"])
def test_a_model_without_case_has_no_other(letters):
    assert spelled("acme", letters) == []


def test_what_cannot_be_written_at_all_has_none():
    assert spelled("ζ") == []
