"""Time limits, by a clock that stands still."""

from __future__ import annotations

import math

import pytest

from earshot.training.run.time_limit import TimeLimit


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_rate_stays_and_then_falls_to_nothing(clock: Clock) -> None:
    limit = TimeLimit(60.0, 20.0, clock)
    shares = []
    for now in (100.0, 139.0, 150.0, 155.0, 160.0, 170.0):
        clock.now = now
        shares.append(limit.rate_share)
    assert shares == [1.0, 1.0, 0.5, 0.25, 0.0, 0.0]
    assert limit.passed


def test_without_cooling_the_rate_stays(clock: Clock) -> None:
    limit = TimeLimit(60.0, clock=clock)
    clock.now = 161.0
    assert limit.passed
    assert limit.rate_share == 1.0


def test_there_need_not_be_one(clock: Clock) -> None:
    limit = TimeLimit(clock=clock)
    clock.now = 1e9
    assert not limit.passed
    assert limit.left_s == math.inf
