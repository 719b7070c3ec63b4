"""No token earns more than it may, however many phrases end with it."""

import pytest
from boost_walk import BoostWalk
from hypothesis import given
from hypothesis import strategies as st

from earshot.decoder_kernels.boosting import boost_steps
from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.boosting.boost_steps import within_step

TOKENS = 3
MOST = 2.0
phrase_lists = st.lists(
    st.builds(
        BoostPhrase,
        tokens=st.lists(st.integers(0, TOKENS - 1), min_size=1, max_size=4).map(tuple),
        weight=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    ),
    max_size=8,
)
SUFFIXES = [BoostPhrase(tuple(range(start, 5)), 1.0) for start in range(5)]


def largest_step(phrases: list[BoostPhrase], tokens: list[int]) -> float:
    """The most that one of the tokens earns."""
    automaton = BoostWalk(BoostTable.compile(phrases, 10, most_pending=MOST))
    state, largest = 0, 0.0
    for token in tokens:
        pending = automaton.pending(state)
        state = automaton.step(state, token)
        largest = max(largest, automaton.pending(state) + automaton.completed(state) - pending)
    return largest


@given(phrase_lists, st.lists(st.integers(0, TOKENS - 1), max_size=30))
def test_no_token_earns_more_than_it_may(phrases: list[BoostPhrase], tokens: list[int]) -> None:
    assert largest_step(within_step(phrases, MOST), tokens) <= MOST + 1e-6


def test_phrases_that_end_together_share_what_their_last_token_may_earn() -> None:
    assert largest_step(SUFFIXES, [0, 1, 2, 3, 4]) > 10.0
    limited = within_step(SUFFIXES, MOST)
    assert largest_step(limited, [0, 1, 2, 3, 4]) == pytest.approx(MOST)
    assert len({phrase.weight for phrase in limited}) == 1


def test_a_phrase_that_begins_as_it_ends_may_be_completed_token_by_token() -> None:
    phrases = [BoostPhrase((0, 0), MOST), BoostPhrase((0, 0, 1), 0.0)]
    assert largest_step(phrases, [0, 0]) == pytest.approx(MOST)
    assert largest_step(phrases, [0, 0, 0]) == pytest.approx(2 * MOST)
    assert largest_step(within_step(phrases, MOST), [0, 0, 0]) == pytest.approx(MOST)


def test_a_long_phrase_earns_what_may_be_pending_and_one_step_more() -> None:
    [limited] = within_step([BoostPhrase((0, 1, 2, 3, 4), MOST)], MOST)
    assert limited.weight * 5 == pytest.approx(2 * MOST)


def test_phrases_within_the_limit_are_left_alone() -> None:
    phrases = [BoostPhrase((0, 1), 1.0), BoostPhrase((1,), 0.5), BoostPhrase((2, 1), -9.0)]
    assert within_step(phrases, MOST) == phrases


def test_a_list_that_takes_too_long_is_lowered_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boost_steps, "MAX_ROUNDS", 0)
    other = BoostPhrase((7,), 1.0)
    limited = within_step([*SUFFIXES, other], MOST)
    assert MOST / 2 < largest_step(limited, [0, 1, 2, 3, 4]) <= MOST
    assert 0.0 < limited[-1].weight < 1.0
