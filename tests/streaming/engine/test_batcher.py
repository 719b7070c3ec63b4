"""The policy alone; time is whatever the test says."""

import pytest

from earshot.streaming.engine.batcher import Batcher
from earshot.streaming.stream_config import StreamPriority

LIVE, FILE = StreamPriority.LIVE, StreamPriority.FILE


@pytest.fixture
def batcher() -> Batcher[str]:
    return Batcher(max_batch=4, max_file_lanes=2, max_wait_s=0.010)


def take(batcher, open_live):
    return [name for name, _ in batcher.take(open_live)]


def test_nothing_ready_means_sleeping_until_woken(batcher):
    assert batcher.wait_s(0.0, open_live=3) is None


def test_a_live_stream_waits_for_others_until_its_deadline(batcher):
    batcher.add("a", LIVE, 1.000)
    batcher.add("b", LIVE, 1.004)
    assert batcher.wait_s(1.004, open_live=3) == pytest.approx(0.006)
    assert batcher.wait_s(1.010, open_live=3) == 0.0
    assert batcher.take(3) == [("a", 1.000), ("b", 1.004)]
    assert batcher.wait_s(1.010, open_live=3) is None


def test_nobody_waits_when_nobody_can_join(batcher):
    batcher.add("a", LIVE, 0.0)
    assert batcher.wait_s(0.0, open_live=1) == 0.0


def test_a_full_step_starts_at_once_and_takes_the_longest_waiting(batcher):
    for index, name in enumerate("abcde"):
        batcher.add(name, LIVE, index / 1000)
    assert batcher.wait_s(0.004, open_live=9) == 0.0
    assert take(batcher, 9) == ["a", "b", "c", "d"]
    assert batcher.wait_s(0.004, open_live=9) == pytest.approx(0.010)


def test_being_ready_twice_does_not_renew_the_deadline(batcher):
    batcher.add("a", LIVE, 0.0)
    batcher.add("a", LIVE, 0.009)
    assert batcher.wait_s(0.009, open_live=2) == pytest.approx(0.001)
    assert len(batcher) == 1


def test_a_stream_whose_final_is_waited_for_is_due_at_once(batcher):
    batcher.add("a", LIVE, 0.000)
    batcher.add("b", LIVE, 0.002, urgent=True)
    assert batcher.wait_s(0.002, open_live=5) == 0.0
    assert take(batcher, 5) == ["a", "b"]
    batcher.add("c", LIVE, 0.010)
    batcher.add("c", LIVE, 0.013, urgent=True)
    assert batcher.wait_s(0.013, open_live=5) == 0.0


def test_files_never_wait_and_take_only_spare_lanes(batcher):
    for name in "xyz":
        batcher.add(name, FILE, 0.0)
    batcher.add("a", LIVE, 0.0)
    assert batcher.wait_s(0.0, open_live=5) == 0.0
    assert take(batcher, 5) == ["a", "x", "y"]
    for name in "abc":
        batcher.add(name, LIVE, 0.0)
    assert take(batcher, 5) == ["a", "b", "c", "z"]


def test_files_have_all_lanes_while_no_live_stream_is_open(batcher):
    for name in "vwxyz":
        batcher.add(name, FILE, 0.0)
    assert take(batcher, 0) == ["v", "w", "x", "y"]


def test_who_is_gone_is_not_taken(batcher):
    batcher.add("a", LIVE, 0.0)
    batcher.add("x", FILE, 0.0)
    batcher.discard("a")
    batcher.discard("x")
    batcher.discard("never there")
    assert len(batcher) == 0


def test_an_urgent_stream_hurries_nobody_once_it_is_taken_or_gone(batcher):
    batcher.add("a", LIVE, 0.0, urgent=True)
    batcher.discard("a")
    batcher.add("b", LIVE, 0.0, urgent=True)
    assert take(batcher, 5) == ["b"]
    batcher.add("c", LIVE, 0.0)
    assert batcher.wait_s(0.0, open_live=5) == pytest.approx(0.010)


def test_the_wait_is_that_of_whoever_is_first_and_then_the_next(batcher):
    for index, name in enumerate("abc"):
        batcher.add(name, LIVE, index / 1000)
    batcher.discard("a")
    assert batcher.wait_s(0.002, open_live=9) == pytest.approx(0.009)
