"""What is done about engines that are late, or hung."""

import logging

import pytest

from earshot.streaming.workers.hang_watch import HUNG_S, LATE_S, LOOK_S
from earshot.streaming.workers.heartbeat import Signs
from earshot.streaming.workers.pool_watch import PoolWatch


class Engine:
    """One that works as long as its test says."""

    work_waits = True

    def __init__(self, name):
        self.name = name
        self.works = True
        self.turns = 0
        self.kills = 0

    @property
    def signs(self):
        self.turns += self.works
        return Signs(self.turns, taken=0, beats=0, busy=False)

    def kill(self):
        self.kills += 1


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def engines():
    return [Engine("engine-0 (pid 7)"), Engine("engine-1 (pid 8)")]


@pytest.fixture
def pass_time(engines):
    clock = Clock()
    watch = PoolWatch(engines, clock)

    def pass_time(seconds):
        for _ in range(round(seconds / LOOK_S)):
            clock.now_s += LOOK_S
            watch.look()
        return watch.late

    pass_time(LOOK_S)
    return pass_time


def test_engines_that_work_are_left_alone(engines, pass_time, caplog):
    assert pass_time(100) == 0
    assert [engine.kills for engine in engines] == [0, 0]
    assert caplog.messages == []


def test_one_that_is_late_is_told_of_once_and_again_when_it_works(engines, pass_time, caplog):
    engines[1].works = False
    assert pass_time(2 * LATE_S) == 1
    engines[1].works = True
    assert pass_time(LOOK_S) == 0
    assert [(record.levelno, record.message) for record in caplog.records] == [
        (logging.ERROR, "engine-1 (pid 8) has not worked for 5 s, and work waits"),
        (logging.WARNING, "engine-1 (pid 8) works again"),
    ]


def test_one_that_hangs_is_killed_once(engines, pass_time, caplog):
    engines[0].works = False
    pass_time(3 * HUNG_S)
    assert [engine.kills for engine in engines] == [1, 0]
    assert caplog.messages[-1] == "engine-0 (pid 7) has not worked for 30 s: it is killed"
