"""Words of a search that knows tokens alone."""

import string
from dataclasses import dataclass

import pytest

from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.boosting.boosting import compile_boosts
from earshot.streaming.results.hypothesis import TokenHypothesis
from earshot.streaming.stream_config import Boost

TOKENIZER = CharTokenizer(UnitTable.of("▁.,'" + string.ascii_letters, "letters"))


@dataclass(frozen=True)
class Found:
    """What a search has found."""

    tokens: tuple[int, ...]
    score = 0.0
    frames = ends = token_log_probs = ()


def boosted(text: str, *phrases: str) -> list[tuple[str, bool]]:
    """Each word of a text, and whether it is boosted."""
    found = Found(tuple(TOKENIZER.units.ids[each] for each in text.replace(" ", "▁")))
    boosts = compile_boosts([Boost(phrase) for phrase in phrases], TOKENIZER)
    return [(word.text, word.boosted) for word in TokenHypothesis(found, TOKENIZER, boosts).words]


@pytest.mark.parametrize("written", ["Acme.", "Acme,", "acme...", "Acme"])
def test_marks_behind_a_boosted_word_leave_it_boosted(written):
    assert boosted(f"at {written} now", "acme") == [("at", False), (written, True), ("now", False)]


@pytest.mark.parametrize("written", ["Acme's", "Acmes.", "an.acme", "acm.e", ".", "Acm."])
def test_what_else_a_word_has_does_not(written):
    assert boosted(written, "acme") == [(written, False)]


def test_a_mark_that_was_asked_for_is_part_of_the_phrase():
    assert boosted("Dr. Acme", "Dr. Acme") == [("Dr.", True), ("Acme", True)]
    assert boosted("Dr Acme", "Dr. Acme") == [("Dr", False), ("Acme", False)]
