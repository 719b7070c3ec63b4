import numpy as np
import pytest

from earshot.service.core.metrics import Metrics
from earshot.service.sessions.latency_clock import MAX_MARKS, LatencyClock
from earshot.streaming.events import Alternative, Final, Partial, Word
from earshot.streaming.requests import FINALIZE, FINISH, Push

PAUSE_S = 1.0


class Bench:
    """A clock under test with time in its hands."""

    def __init__(self):
        self.now_s = 100.0
        self.metrics = Metrics()
        self.clock = LatencyClock(self.metrics, 16000, lambda: self.now_s)

    def hear(self, seconds):
        self.clock.asked(Push(np.zeros(round(seconds * 16000), np.float32)))
        self.now_s += seconds

    def sum_of(self, name, **labels):
        name = f"earshot_{name}_latency_seconds_sum"
        return self.metrics.registry.get_sample_value(name, labels)


@pytest.fixture
def bench():
    return Bench()


def test_a_partial_is_as_late_as_the_last_audio_it_covers(bench):
    for _ in range(10):
        bench.hear(0.5)
    # Covers up to 3.0 s: the sixth half second, which arrived at 102.5; now it is 105.
    bench.clock.result(Partial(1.0, 2.0, (), 0))
    assert bench.sum_of("partial") == pytest.approx(2.5)
    assert bench.clock.worst_lag_s == pytest.approx(2.5)


def final(cause, words=()):
    said = Alternative(" ".join(word.text for word in words), words, 0.9, -1.0)
    pause_s = PAUSE_S if cause == "endpoint" else 0.0
    return Final(0.0, 3.0, (said,), True, cause == "finalize", cause, pause_s=pause_s)


@pytest.mark.parametrize(("request_", "cause"), [(FINALIZE, "finalize"), (FINISH, "end")])
def test_a_final_is_as_late_as_its_request(bench, request_, cause):
    bench.hear(1.0)
    bench.clock.asked(request_)
    bench.now_s += 0.25
    bench.clock.result(final(cause))
    assert bench.sum_of("final", after="request") == pytest.approx(0.25)
    assert (bench.clock.finals, bench.clock.late_finals) == (1, 0)
    assert bench.clock.worst_lag_s == pytest.approx(0.25)


def test_a_final_by_endpoint_counts_from_the_end_of_its_last_word(bench):
    for _ in range(10):
        bench.hear(0.5)
    bench.clock.result(Partial(0.0, 5.0, (), 0))
    # The last word's last audio, the fourth half second, arrived at 101.5; now it is 105.
    said = (Word("oh", 0.1, 0.4, 0.9), Word("hello", 1.2, 1.8, 0.9))
    bench.clock.result(final("endpoint", said))
    assert bench.sum_of("final", after="endpoint") == pytest.approx(3.5)


@pytest.mark.parametrize(("wait_s", "late"), [(1.9, 0), (2.1, 1)])
def test_a_final_is_late_a_second_after_the_pause_that_ends_it(bench, wait_s, late):
    bench.hear(1.0)
    bench.now_s += wait_s - 1.0
    bench.clock.result(final("endpoint", (Word("hello", 0.2, 1.0, 0.9),)))
    assert (bench.clock.finals, bench.clock.late_finals) == (1, late)
    assert bench.clock.worst_lag_s == pytest.approx(wait_s - PAUSE_S)


def test_a_final_is_late_a_second_after_its_request(bench):
    bench.clock.asked(FINALIZE)
    bench.now_s += 1.1
    bench.clock.result(final("finalize"))
    assert bench.clock.late_finals == 1


def test_a_final_without_words_that_nobody_asked_for_has_no_latency(bench):
    bench.hear(1.0)
    bench.clock.result(final("endpoint"))
    assert bench.sum_of("final", after="endpoint") is None
    assert bench.clock.finals == 1


def test_an_hour_without_results_takes_no_memory(bench):
    for _ in range(MAX_MARKS + 100):
        bench.hear(0.02)
    assert len(bench.clock._marks) == MAX_MARKS
    assert bench.clock.audio_s == pytest.approx(0.02 * (MAX_MARKS + 100))
