"""The rule that is chosen for a head."""

import random

import pytest
import torch

from earshot.models.turns.turn_head import STRETCHES, TurnHead
from earshot.models.turns.turn_rule import TurnRule
from earshot.training.errors import TrainingError
from earshot.training.turns.rule_choice import CONFIDENCE, SILENCE_MS, Judged, with_chosen_rule
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
    judged = Judged.of(head, pauses)
    pairs = zip(judged.ends, judged.sounds, strict=True)
    asked = [head.rule.pause_ms(end, CONFIDENCE, sound) for end, sound in pairs]
    needed = torch.tensor(asked, dtype=torch.float64).clamp(300, 1400).numpy()
    return judged.wait_ms(needed), judged.cuts(needed)


@pytest.mark.parametrize("tells", [0.3, 1.0, 2.0])
def test_no_more_is_cut_than_by_silence_and_turns_end_sooner(tells: float) -> None:
    pauses = drawn(tells)
    wait_ms, cuts = waits_and_cuts(with_chosen_rule(listening_head(), pauses), pauses)
    assert cuts <= Judged.of(listening_head(), pauses).cuts(SILENCE_MS)
    assert wait_ms < SILENCE_MS


def test_a_sound_that_tells_more_counts_for_more() -> None:
    little, much = (with_chosen_rule(listening_head(), drawn(tells)) for tells in (0.2, 2.0))
    assert 1 / little.rule.pause < 1 / much.rule.pause


def test_what_is_chosen_holds_for_others() -> None:
    head = with_chosen_rule(listening_head(), drawn(1.0))
    _, cuts = waits_and_cuts(head, drawn(1.0, seed=1))
    assert cuts == pytest.approx(Judged.of(head, drawn(1.0)).cuts(SILENCE_MS), abs=0.08)


def test_ends_alone_choose_nothing() -> None:
    ends = [pause for pause in drawn(1.0) if pause.is_end]
    with pytest.raises(TrainingError, match="wants ends, and pauses that are none"):
        with_chosen_rule(listening_head(), ends)
