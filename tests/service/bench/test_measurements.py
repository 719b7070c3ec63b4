import math

import pytest

from earshot.service.bench.measurements import Heard, Measurements, Percentiles, Summary
from earshot.service.bench.report import table


def run(latencies, text="a b", alone="a b", **others):
    heard = [
        Heard(at, latency, text, "a b", alone, "a b c") for at, latency in enumerate(latencies)
    ]
    return Measurements(4, 60.0, heard=heard, audio_s=100.0, cpu_s=2.0, **others)


def test_a_good_run_holds():
    summary = Summary.of(run([0.1] * 100, partial_latencies_s=[0.2] * 100))
    assert summary.holds
    assert (summary.final.p50_ms, summary.partial.p99_ms) == (100.0, 200.0)
    assert summary.cpu_s_per_audio_s == 0.02
    assert summary.wer_to_alone == 0.0
    assert summary.wer == pytest.approx(1 / 3, abs=1e-4)


def test_marks_count_beside_the_stream_alone_and_not_beside_what_was_said():
    heard = [Heard(0.0, 0.1, "A, b.", words="a b", alone="A b.", truth="a b")]
    summary = Summary.of(Measurements(4, 60.0, heard=heard, audio_s=100.0))
    assert (summary.wer, summary.wer_to_alone) == (0.0, 0.5)


def test_a_run_in_which_no_stream_spoke_does_not_hold():
    summary = Summary.of(Measurements(4, 60.0, failures=["refused"], cpu_s=2.0))
    assert not summary.holds
    assert summary.cpu_s_per_audio_s is None


@pytest.mark.parametrize(
    ("measured", "reason"),
    [
        (run([0.1] * 90 + [1.2] * 10), "finals over a second at p95"),
        (run([0.1] * 99, partial_latencies_s=[0.1] * 900 + [1.5] * 2), "more than 0.1 % late"),
        (run([0.01 * at for at in range(90)]), "lag grows"),
        (run([0.1] * 10, text="a", alone="a b"), "words differ from the stream alone"),
        (run([0.1] * 10, failures=["closed"]), "a stream broke"),
        (run([]), "nothing was measured"),
    ],
)
def test_a_run_does_not_hold_when(measured, reason):
    assert not Summary.of(measured).holds, reason


def test_nothing_measured_is_nan_not_zero():
    assert math.isnan(Percentiles.of([]).p95_ms)


def test_the_table_has_a_column_for_each_run():
    text = table([Summary.of(run([0.1] * 9)), Summary.of(run([2.0] * 9))])
    assert text.splitlines()[1].split() == ["holds", "yes", "no"]
