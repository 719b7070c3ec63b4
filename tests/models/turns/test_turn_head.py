"""What a head hears of a pause."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from earshot.models.turns.turn_head import (
    FRAMES_AFTER,
    FRAMES_BEFORE,
    LOUDEST,
    STRETCHES,
    TurnHead,
    stretches_of,
)
from earshot.models.turns.turn_rule import TurnRule

WIDTH = 3


def frames(count: int) -> Tensor:
    return torch.randn(count, WIDTH, generator=torch.Generator().manual_seed(count))


def means_by_hand(segment: Tensor, silent: int) -> list[list[float]]:
    """Each stretch frame by frame, without those that are not there."""
    start = len(segment) - silent
    found = []
    for low, high in STRETCHES:
        own = [segment[i] for i in range(start + low, start + high) if 0 <= i < len(segment)]
        found.append(torch.stack(own).mean(0).tolist() if own else [float("nan")] * WIDTH)
    return found


@given(st.integers(0, 60), st.integers(1, 30))
def test_stretches_are_means_of_the_frames_around_the_first_silent_one(
    spoken: int, silent: int
) -> None:
    segment = frames(spoken + silent)
    wanted = torch.tensor(means_by_hand(segment, silent))
    torch.testing.assert_close(stretches_of(segment, silent), wanted, equal_nan=True)


@given(st.integers(0, 60), st.integers(1, 30))
def test_nothing_else_of_a_segment_is_heard(spoken: int, silent: int) -> None:
    segment = frames(spoken + silent)
    latest = segment[-(FRAMES_BEFORE + silent) :]
    whole, part = stretches_of(segment, silent), stretches_of(latest, silent)
    torch.testing.assert_close(whole, part, equal_nan=True)


def test_a_sound_is_the_weighted_distance_from_the_means() -> None:
    weights, means = torch.randn(2, len(STRETCHES), WIDTH)
    heard = torch.randn(4, len(STRETCHES), WIDTH)
    wanted = [float(((row - means) * weights).sum()) for row in heard]
    assert TurnHead(weights, means, TurnRule()).sounds(heard) == pytest.approx(wanted, abs=1e-5)


def test_what_there_is_nothing_of_says_nothing() -> None:
    weights, means = torch.randn(2, len(STRETCHES), WIDTH)
    head = TurnHead(weights, means, TurnRule())
    short = stretches_of(frames(FRAMES_AFTER), FRAMES_AFTER)
    [sound] = head.sounds(short.unsqueeze(0))
    wanted = float(((short - means) * weights)[-2:].sum())
    assert sound == pytest.approx(wanted, abs=1e-5)


def test_a_sound_is_the_same_to_the_bit_whoever_else_is_asked_about() -> None:
    weights, means = torch.randn(2, len(STRETCHES), 384)
    head, heard = TurnHead(weights, means, TurnRule()), torch.randn(7, len(STRETCHES), 384)
    assert head.sounds(heard) == [head.sounds(row.unsqueeze(0))[0] for row in heard]


@pytest.mark.parametrize("number", [torch.inf, -torch.inf, torch.nan, 3e38])
def test_whatever_is_heard_a_sound_is_a_bounded_number(number: float) -> None:
    weights = torch.full((len(STRETCHES), WIDTH), 3e38)
    weights[0] *= -1
    head = TurnHead(weights, torch.zeros_like(weights), TurnRule())
    [sound] = head.sounds(torch.full((1, len(STRETCHES), WIDTH), number))
    assert abs(sound) <= LOUDEST
