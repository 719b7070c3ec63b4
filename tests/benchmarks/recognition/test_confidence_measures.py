import math

import pytest

from benchmarks.recognition.confidence_measures import LEAST, Words


def words(*said: tuple[float, bool]) -> Words:
    taken = Words()
    taken.take([confidence for confidence, _ in said], [right for _, right in said])
    return taken


def test_saying_of_every_word_how_many_are_right_gains_nothing() -> None:
    found = words(*[(0.25, right) for right in (True, False, False, False)])
    assert found.cross_entropy_gain() == pytest.approx(0.0)
    assert found.calibration_error() == pytest.approx(0.0)
    assert found.ranking() == 0.5


def test_knowing_which_words_are_right_gains_almost_all() -> None:
    found = words((1.0, True), (0.0, False))
    assert found.cross_entropy_gain() == pytest.approx(1 + math.log2(1 - LEAST))
    assert found.ranking() == 1.0


def test_a_sure_error_costs_as_much_as_the_least_confidence_says() -> None:
    found = words((0.0, True), (1.0, False))
    assert found.cross_entropy_gain() == pytest.approx(1 + math.log2(LEAST))
    assert found.ranking() == 0.0


def test_bins_are_tenths() -> None:
    found = words((0.05, False), (0.31, True), (0.39, False), (1.0, True))
    bins = found.bins()
    assert [count for count, _, _ in bins] == [1, 0, 0, 2, 0, 0, 0, 0, 0, 1]
    assert bins[3][1:] == pytest.approx((0.35, 0.5))
    error = (0.05 + 2 * 0.15 + LEAST) / 4
    assert found.calibration_error() == pytest.approx(error)


def test_words_times_a_factor_keep_what_is_right() -> None:
    found = words((1.0, True), (0.5, False)).times(0.8)
    assert found.confidences.tolist() == [0.8, 0.4]
    assert found.right.tolist() == [True, False]


def test_words_that_are_all_right_cannot_be_ranked() -> None:
    assert math.isnan(words((0.5, True), (0.9, True)).ranking())
