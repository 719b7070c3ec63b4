"""The rule that is chosen for a head."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from earshot.models.turns.turn_head import STRETCHES, TurnHead
from earshot.models.turns.turn_rule import TurnRule
from earshot.training.errors import TrainingError
from earshot.training.turns.rule_choice import (
    CONFIDENCE,
    MOST_MS,
    SILENCE_MS,
    needed_ms,
    share_cut,
    sounds_of,
    with_chosen_rule,
)
from earshot.training.turns.turn_fit import HeardPause

SHAPE = (len(STRETCHES), 1)


def listening_head() -> TurnHead:
    weights = torch.zeros(SHAPE)
    weights[0, 0] = 1
    return TurnHead(weights, torch.zeros(SHAPE), TurnRule())


def drawn(tells: float, seed: int = 0, count: int = 600) -> list[HeardPause]:
    """Pauses whose sound tells so much, each with a length of its own."""
    rng = random.Random(seed)
    pauses = []
    for _ in range(count):
        is_end = rng.random() < 0.5
        heard = torch.zeros(SHAPE)
        heard[0, 0] = rng.gauss(tells if is_end else -tells, 1)
        length = 3000.0 if is_end else rng.uniform(200, 1300)
        pauses.append(HeardPause("a", heard, rng.uniform(-6, 0), length, is_end))
    return pauses


def waits_and_cuts(head: TurnHead, pauses: list[HeardPause]) -> tuple[float, float]:
    needed = needed_ms(pauses, head.rule, CONFIDENCE, sounds_of(head, pauses))
    ends = [ms for pause, ms in zip(pauses, needed, strict=True) if pause.is_end]
    return sum(ends) / len(ends), share_cut(pauses, needed)


def cut_by_silence(pauses: list[HeardPause]) -> float:
    return share_cut(pauses, np.full(len(pauses), float(SILENCE_MS)))


def test_the_rule_waits_longer_behind_words_that_go_on() -> None:
    pauses = [HeardPause("a", torch.zeros(SHAPE), end, 3000.0, True) for end in (-0.5, -8.0)]
    sure, unsure = needed_ms(pauses, TurnRule(), CONFIDENCE, [0.0, 0.0])
    assert sure < unsure == MOST_MS


@pytest.mark.parametrize("tells", [0.3, 1.0, 2.0])
def test_no_more_is_cut_than_by_silence_and_turns_end_sooner(tells: float) -> None:
    pauses = drawn(tells)
    wait_ms, cuts = waits_and_cuts(with_chosen_rule(listening_head(), pauses), pauses)
    assert cuts <= cut_by_silence(pauses)
    assert wait_ms < SILENCE_MS


def test_a_sound_that_tells_more_counts_for_more() -> None:
    little, much = (with_chosen_rule(listening_head(), drawn(tells)) for tells in (0.2, 2.0))
    assert 1 / little.rule.pause < 1 / much.rule.pause


def test_what_is_chosen_holds_for_others() -> None:
    head = with_chosen_rule(listening_head(), drawn(1.0))
    _, cuts = waits_and_cuts(head, drawn(1.0, seed=1))
    assert cuts == pytest.approx(cut_by_silence(drawn(1.0)), abs=0.08)


def test_ends_alone_choose_nothing() -> None:
    ends = [pause for pause in drawn(1.0) if pause.is_end]
    with pytest.raises(TrainingError, match="wants ends, and pauses that are none"):
        with_chosen_rule(listening_head(), ends)


def test_where_silence_cuts_all_so_may_the_rule() -> None:
    pauses = [replace(p, length_ms=max(p.length_ms, 1350.0)) for p in drawn(1.0, count=40)]
    _, cuts = waits_and_cuts(with_chosen_rule(listening_head(), pauses), pauses)
    assert cuts == 1.0
