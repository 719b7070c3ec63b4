"""When an engine counts as late, and when as hung."""

from dataclasses import replace

import pytest

from earshot.streaming.workers.hang_watch import HUNG_S, LATE_S, LOOK_S, HangWatch
from earshot.streaming.workers.heartbeat import Signs

IDLE = Signs(turns=0, taken=0, beats=0, busy=False)
BUSY = replace(IDLE, busy=True)


class Watched:
    """An engine, its judge, and a clock that the test turns."""

    def __init__(self):
        self.now_s = 0.0
        self.signs = IDLE
        self.watch = HangWatch(lambda: self.now_s)

    def live(self, seconds, work_waits=False, every_s=LOOK_S, **changes):
        """Let time pass, with a look now and then; `changes` are what grows with each."""
        for _ in range(round(seconds / every_s)):
            self.now_s += every_s
            grown = {name: getattr(self.signs, name) + by for name, by in changes.items()}
            self.signs = replace(self.signs, **grown)
            self.watch.look(self.signs, work_waits)

    @property
    def verdict(self):
        return self.watch.late, self.watch.hung


@pytest.fixture
def watched():
    return Watched()


def test_a_stopped_process_is_late_and_then_hung_while_work_waits(watched):
    watched.live(LATE_S - LOOK_S, work_waits=True)
    assert watched.verdict == (False, False)
    watched.live(LOOK_S, work_waits=True)
    assert watched.verdict == (True, False)
    watched.live(HUNG_S - LATE_S, work_waits=True)
    assert watched.verdict == (True, True)


def test_a_stopped_process_without_work_is_not_late(watched):
    watched.live(100)
    assert watched.verdict == (False, False)


def test_the_silence_begins_with_the_work(watched):
    watched.live(100)
    watched.live(LATE_S - LOOK_S, work_waits=True)
    assert not watched.watch.late


def test_a_step_that_never_returns_is_noticed_although_the_process_lives(watched):
    watched.signs = BUSY
    watched.live(LATE_S + LOOK_S, turns=1)
    assert watched.verdict == (True, False)
    watched.live(HUNG_S, turns=1)
    assert watched.verdict == (True, True)


def test_a_step_that_beats_may_be_long(watched):
    watched.signs = BUSY
    watched.live(100, work_waits=True, turns=1, beats=1)
    assert watched.verdict == (False, False)


def test_an_engine_that_sleeps_owes_no_beat(watched):
    watched.live(100, work_waits=True, turns=1)  # half a chunk, and the speaker pauses
    assert watched.verdict == (False, False)


def test_one_sign_of_life_makes_up_for_all_silence(watched):
    watched.live(HUNG_S - LOOK_S, work_waits=True)
    assert watched.watch.late
    watched.live(LOOK_S, work_waits=True, turns=1)
    assert watched.verdict == (False, False)


@pytest.mark.parametrize("pause_s", [12.0, 60.0, 3600.0])
def test_a_pause_of_everything_proves_nothing(watched, pause_s):
    watched.live(1.0, work_waits=True, turns=1, beats=1)
    watched.live(pause_s, work_waits=True, every_s=pause_s)
    assert watched.verdict == (False, False)


def test_a_watch_that_is_held_up_counts_what_it_has_seen(watched):
    looks_until_late = LATE_S / (2 * LOOK_S)
    watched.live(10 * (looks_until_late - 1), work_waits=True, every_s=10.0)
    assert not watched.watch.late
    watched.live(10, work_waits=True, every_s=10.0)
    assert watched.watch.late
