"""Cuts against latency, from pauses that are known."""

import random

import pytest

from benchmarks.turns.pauses import TIMEOUT_MS, Ending, Pause, by_rule, fitted
from earshot.streaming.turns.turn_rule import TurnRule

INSIDE = [Pause(-6.0, length, is_end=False) for length in (200.0, 400.0, 600.0, 1100.0)]
ENDS = [Pause(-0.5, 3000.0, is_end=True), Pause(-8.0, 3000.0, is_end=True)]


def test_a_silence_cuts_what_is_longer() -> None:
    found = Ending.of([*INSIDE, *ENDS], lambda pause: 500)
    assert found == Ending(cuts=50.0, ends_ms=[500, 500])


def test_the_rule_waits_longer_behind_words_that_go_on() -> None:
    sure, unsure = Ending.of([*INSIDE, *ENDS], by_rule(0.75)).ends_ms
    assert sure < unsure == TIMEOUT_MS


def test_fitted_weights_are_those_by_which_pauses_were_drawn() -> None:
    true, drawn = TurnRule(0.5, 0.7, 1.1), random.Random(0)
    pauses = []
    for _ in range(4000):
        end, length = drawn.uniform(-8, 0), drawn.choice([200, 240, 320, 400, 520, 640, 800, 1000])
        is_end = drawn.random() < true.confidence(end, length)
        pauses += [Pause(end, length, is_end)]
    found = fitted(pauses)
    assert found.end == pytest.approx(true.end, abs=0.25)
    assert found.confidence(-2, 300) > 0.2
