"""How likely a turn is over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.models.turns.turn_rule import TurnRule

RULE = TurnRule()
ENDS = st.floats(-30, 0)
SOUNDS = st.floats(-4, 4)


@given(ENDS, st.floats(0.05, 0.95), SOUNDS)
def test_the_pause_is_the_one_of_that_confidence(
    end: float, confidence: float, sound: float
) -> None:
    pause_ms = RULE.pause_ms(end, confidence, sound)
    if pause_ms >= 1:
        assert RULE.confidence(end, pause_ms, sound) == pytest.approx(confidence, rel=1e-6)


@given(ENDS, ENDS, st.floats(100, 3000))
def test_a_likelier_end_is_surer(one: float, other: float, pause_ms: float) -> None:
    less, more = sorted((one, other))
    assert RULE.confidence(less, pause_ms) <= RULE.confidence(more, pause_ms)


@given(ENDS, st.floats(1, 5000), st.floats(1, 5000))
def test_a_longer_pause_is_surer(end: float, one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert RULE.confidence(end, less) <= RULE.confidence(end, more)


@given(ENDS, SOUNDS, SOUNDS)
def test_what_sounds_like_an_end_takes_a_shorter_pause(
    end: float, one: float, other: float
) -> None:
    less, more = sorted((one, other))
    assert RULE.pause_ms(end, 0.75, more) <= RULE.pause_ms(end, 0.75, less)


def test_no_text_is_waited_for_without_end() -> None:
    assert RULE.pause_ms(-1e9, 0.99) < 1e8
