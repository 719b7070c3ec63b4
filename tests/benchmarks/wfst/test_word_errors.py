import pytest

from benchmarks.wfst.word_errors import WordErrors, longest_run, repeats


def test_errors_are_words_wrong_missing_and_too_many() -> None:
    found = WordErrors.of(["a b c", "d", "e f"], ["a x c", "d d", ""])
    assert (found.said, found.errors) == ([3, 1, 2], [1, 1, 2])
    assert found.percent == pytest.approx(100 * 4 / 6)


def test_the_margin_is_that_of_a_mean_where_all_recordings_are_of_one_word() -> None:
    found = WordErrors([1] * 100, [1] * 20 + [0] * 80)
    assert found.margin == pytest.approx(100 * 1.96 * (0.2 * 0.8 / 100) ** 0.5)


def test_recordings_that_are_alike_leave_no_margin() -> None:
    found = WordErrors([4, 2], [2, 1])
    assert found.margin == 0.0
    assert str(found) == "50.0 ± 0.0"


def test_the_longest_run_is_of_one_word_in_one_text() -> None:
    assert longest_run(["a b b b a", "b b", ""]) == 3
    assert longest_run([]) == 0


def test_words_and_phrases_said_twice_in_a_row_are_found() -> None:
    assert repeats("the the cat sat and and") == ["the", "and"]
    assert repeats("he said so he said so he went") == ["he said so", "said so he"]
    assert repeats("one two three one two four one") == []
    assert repeats("") == []
