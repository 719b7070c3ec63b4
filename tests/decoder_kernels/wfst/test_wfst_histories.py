"""Of the oracle: backpointers that say the same are one class, and what is left out is known."""

import numpy as np
import pytest
from results_oracle.histories import (
    NO_BACKPOINTER,
    NOTHING,
    BackpointerColumns,
    Histories,
    TooManyHistories,
)
from results_oracle.nbest import BACKPOINTER

A, B, C = 1, 2, 3
LIMIT, STEPS = 10, 1000


def columns(*backpointers: tuple[int, int, int, int]) -> BackpointerColumns:
    """Of (first, other, word, value)."""
    rows = [(first, other, word, 0, value) for first, other, word, value in backpointers]
    return BackpointerColumns.of(np.array(rows, dtype=BACKPOINTER))


def either(extra: int) -> list[tuple[int, int, int, int]]:
    """Backpointers 0 and 1: word A in frame 5, word B in frame 6; 2: A, or B for more."""
    return [(NO_BACKPOINTER, 5, A, 0), (NO_BACKPOINTER, 6, B, 0), (0, 1, 0, extra)]


def test_nothing_said_is_a_history_too() -> None:
    histories = Histories(columns(), [(4, NO_BACKPOINTER)], LIMIT, STEPS)
    assert histories.root == {NOTHING: (4, NO_BACKPOINTER)}


def test_the_ways_a_history_may_end_have_costs_and_records() -> None:
    histories = Histories(columns(*either(3)), [(4, 2)], LIMIT, STEPS)
    assert sorted(histories.root.values()) == [(4, 0), (7, 1)]
    assert [(histories.word(r), histories.frame(r)) for r in (0, 1)] == [(A, 5), (B, 6)]
    assert histories.before(0) == {NOTHING: (0, NO_BACKPOINTER)}
    assert not histories.cut


def test_the_same_word_after_the_same_histories_is_one_class() -> None:
    """Two tokens remember A, or B for 3 more, in backpointers of their own; both go on with C."""
    twice = [*either(3), (NO_BACKPOINTER, 5, A, 0), (NO_BACKPOINTER, 7, B, 0), (3, 4, 0, 3)]
    backpointers = columns(*twice, (2, 9, C, 0), (5, 8, C, 0))
    histories = Histories(backpointers, [(4, 6), (5, 7)], LIMIT, STEPS)
    assert list(histories.root.values()) == [(4, 6)]


def test_the_same_word_after_other_costs_is_another_class() -> None:
    twice = [*either(3), (NO_BACKPOINTER, 5, A, 0), (NO_BACKPOINTER, 7, B, 0), (3, 4, 0, 2)]
    backpointers = columns(*twice, (2, 9, C, 0), (5, 8, C, 0))
    histories = Histories(backpointers, [(4, 6), (5, 7)], LIMIT, STEPS)
    assert list(histories.root.values()) == [(4, 6), (5, 7)]


@pytest.mark.parametrize("ends", [[(4, 2)], [(4, 0), (11, 1)]])
def test_what_the_limit_leaves_out_is_noted(ends: list[tuple[int, int]]) -> None:
    histories = Histories(columns(*either(7)), ends, LIMIT, STEPS)
    assert list(histories.root.values()) == [(4, 0)]
    assert histories.cut


def test_work_is_bounded() -> None:
    with pytest.raises(TooManyHistories):
        Histories(columns(*either(3)), [(4, 2)], LIMIT, max_steps=10)
