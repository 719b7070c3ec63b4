import numpy as np
import pytest

from earshot.service.core.latency_clock import MAX_MARKS, LatencyClock
from earshot.service.core.metrics import Metrics
from earshot.streaming.events import Final, Partial
from earshot.streaming.requests import FINALIZE, Push


class Bench:
    """A clock under test with time in its hands."""

    def __init__(self):
        self.now_s = 100.0
        self.metrics = Metrics()
        self.clock = LatencyClock(self.metrics, 16000, lambda: self.now_s)

    def hear(self, seconds):
        self.clock.asked(Push(np.zeros(round(seconds * 16000), np.float32)))
        self.now_s += seconds

    def sum_of(self, name):
        return self.metrics.registry.get_sample_value(f"earshot_{name}_latency_seconds_sum")

    def count_of(self, name):
        return self.metrics.registry.get_sample_value(f"earshot_{name}_latency_seconds_count")


@pytest.fixture
def bench():
    return Bench()


def test_a_partial_is_as_late_as_the_last_audio_it_covers(bench):
    for _ in range(10):
        bench.hear(0.5)
    # Covers up to 3.0 s: the sixth half second, which arrived at 102.5; now it is 105.
    bench.clock.result(Partial(1.0, 2.0, (), 0))
    assert bench.sum_of("partial") == pytest.approx(2.5)


def test_a_final_is_as_late_as_its_asking(bench):
    bench.hear(1.0)
    bench.clock.asked(FINALIZE)
    bench.now_s += 0.25
    bench.clock.result(Final(0.0, 1.0, (), True, True, "finalize"))
    assert bench.sum_of("final") == pytest.approx(0.25)


def test_a_final_that_nobody_asked_for_is_not_counted(bench):
    bench.hear(1.0)
    bench.clock.result(Final(0.0, 1.0, (), True, False, "endpoint"))
    assert bench.count_of("final") == 0


def test_an_hour_without_results_takes_no_memory(bench):
    for _ in range(MAX_MARKS + 100):
        bench.hear(0.02)
    assert len(bench.clock._marks) == MAX_MARKS
    assert bench.clock.audio_s == pytest.approx(0.02 * (MAX_MARKS + 100))
