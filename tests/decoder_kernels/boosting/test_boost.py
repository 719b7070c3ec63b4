"""Boost tables: which bonus a token sequence earns, and what no table can hold."""

import json
import math
from pathlib import Path

import pytest
from boost_walk import BoostWalk
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.decoder_kernels.boosting.boost import MAX_WEIGHT, BoostPhrase, BoostTable
from earshot.decoder_kernels.errors import BoostTableError

VOCAB_SIZE = 8
phrases_of = st.lists(
    st.builds(
        BoostPhrase,
        tokens=st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple),
        weight=st.sampled_from([-2.0, 0.5, 1.0, 3.0]),
    ),
    max_size=6,
)


def walk(table: BoostTable, tokens: list[int]) -> tuple[list[float], float, float]:
    """The boost after each token, and the completed and pending bonus at the end."""
    automaton = BoostWalk(table)
    state, completed, boosts = 0, 0.0, []
    for token in tokens:
        state = automaton.step(state, token)
        completed += automaton.completed(state)
        boosts.append(completed + automaton.pending(state))
    return boosts, completed, automaton.pending(state)


def boosts(phrases: list[tuple[tuple[int, ...], float]], tokens: list[int]) -> list[float]:
    table = BoostTable.compile([BoostPhrase(*phrase) for phrase in phrases], VOCAB_SIZE)
    return walk(table, tokens)[0]


def test_a_phrase_earns_its_weight_token_by_token() -> None:
    assert boosts([((1, 2, 3), 2.0)], [1, 2, 3]) == [2.0, 4.0, 6.0]


def test_an_unfinished_phrase_gives_its_bonus_back() -> None:
    assert boosts([((1, 2, 3), 2.0)], [1, 2, 4]) == [2.0, 4.0, 0.0]


def test_a_complete_phrase_keeps_its_bonus() -> None:
    assert boosts([((1, 2), 2.0)], [1, 2, 4, 5]) == [2.0, 4.0, 4.0, 4.0]


def test_failure_falls_back_to_the_longest_suffix() -> None:
    assert boosts([((1, 2, 3), 1.0), ((2, 4), 1.0)], [1, 2, 4]) == [1.0, 2.0, 2.0]


def test_a_phrase_inside_another_counts_too() -> None:
    assert boosts([((1, 2, 3, 4), 1.0), ((2, 3), 1.0)], [1, 2, 3, 4]) == [1.0, 2.0, 5.0, 6.0]


@pytest.mark.parametrize("order", [1, -1])
def test_a_phrase_that_begins_another_is_an_end_in_any_order(order: int) -> None:
    phrases = [((1, 2, 3), 1.0), ((1, 2), 1.0)][::order]
    assert boosts(phrases, [1, 2, 5]) == [1.0, 2.0, 2.0]
    assert boosts(phrases, [1, 2, 3, 5]) == [1.0, 2.0, 5.0, 5.0]


def test_the_next_token_is_not_held_back_by_a_complete_phrase() -> None:
    """WeNet's rule leaves the bonus pending, so that the token after the phrase costs it."""
    phrase = [BoostPhrase((1, 2), 2.0)]
    settled, _, _ = walk(BoostTable.compile(phrase, VOCAB_SIZE), [1, 2, 5])
    held, _, _ = walk(BoostTable.compile(phrase, VOCAB_SIZE, hold_completed=True), [1, 2, 5])
    assert settled == [2.0, 4.0, 4.0]
    assert held == [2.0, 8.0, 4.0]


def test_a_negative_weight_costs_when_the_phrase_is_complete() -> None:
    assert boosts([((1, 2), -2.0)], [1, 2, 5]) == [0.0, -4.0, -4.0]


def test_words_that_begin_like_a_disfavoured_phrase_cost_nothing() -> None:
    assert boosts([((1, 2, 3), -2.0)], [1, 2, 5]) == [0.0, 0.0, 0.0]


def test_a_phrase_that_goes_on_does_not_pay_for_a_disfavoured_beginning() -> None:
    assert boosts([((1,), -5.0), ((1, 2), 3.0)], [1, 2]) == [-2.0, 1.0]


def test_no_more_is_pending_than_may_be_and_the_end_pays_the_rest() -> None:
    table = BoostTable.compile([BoostPhrase((1, 2, 3), 2.0)], VOCAB_SIZE, most_pending=3.0)
    assert walk(table, [1, 2, 3, 4])[0] == [2.0, 3.0, 6.0, 6.0]
    assert walk(table, [1, 2, 4])[0] == [2.0, 3.0, 0.0]


def test_nothing_is_pending_for_a_silent_beginning_and_the_end_pays_for_it() -> None:
    phrases = [BoostPhrase((5, 1, 5, 2), 2.0), BoostPhrase((3,), 1.0)]
    table = BoostTable.compile(phrases, VOCAB_SIZE, silent={5})
    assert walk(table, [5, 1, 5, 2])[0] == [0.0, 2.0, 4.0, 8.0]
    assert walk(table, [5, 3])[0] == [0.0, 1.0]


def test_a_phrase_given_twice_counts_once() -> None:
    assert boosts([((1, 2), 1.0), ((1, 2), 3.0), ((1, 2), 2.0)], [1, 2]) == [3.0, 6.0]


def test_a_shared_beginning_is_not_worth_more_than_its_own_phrase() -> None:
    assert boosts([((1, 2), 1.0), ((1, 3), 5.0)], [1, 2, 6]) == [5.0, 2.0, 2.0]


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf])
def test_weights_must_be_finite(weight: float) -> None:
    with pytest.raises(BoostTableError, match="weight"):
        BoostPhrase((1,), weight)


@pytest.mark.parametrize(("weight", "bonus"), [(1e9, MAX_WEIGHT), (-1e9, -MAX_WEIGHT)])
def test_silly_weights_are_clamped(weight: float, bonus: float) -> None:
    assert boosts([((1, 2), weight)], [1, 2])[-1] == 2 * bonus


def test_a_phrase_needs_tokens() -> None:
    with pytest.raises(BoostTableError, match="no tokens"):
        BoostPhrase((), 1.0)


@pytest.mark.parametrize("token", [-1, VOCAB_SIZE])
def test_tokens_must_lie_in_the_vocabulary(token: int) -> None:
    with pytest.raises(BoostTableError, match="outside the vocabulary"):
        BoostTable.compile([BoostPhrase((1, token), 1.0)], VOCAB_SIZE)


def test_tables_have_one_fingerprint_where_they_are_the_same() -> None:
    asked = [((1, 2), 1.0), ((1, 2), 1.5), ((1, 3), 1.0), ((1,), 1.0), ((1, 2), 1.0)]
    *others, again = (
        BoostTable.compile([BoostPhrase(*each)], VOCAB_SIZE).fingerprint for each in asked
    )
    assert len(set(others)) == len(others)
    assert again == others[0]


def test_no_phrases_make_a_table_of_the_root_alone() -> None:
    table = BoostTable.compile([], VOCAB_SIZE)
    assert table.num_states == 1
    assert table.tokens == frozenset()


@settings(deadline=None)
@given(phrases_of, st.lists(st.integers(1, 5), max_size=12))
def test_what_is_kept_is_the_sum_over_all_occurrences(
    phrases: list[BoostPhrase], tokens: list[int]
) -> None:
    largest: dict[tuple[int, ...], float] = {}
    for phrase in phrases:
        largest[phrase.tokens] = max(largest.get(phrase.tokens, -math.inf), phrase.weight)
    expected = sum(
        weight * len(phrase)
        for phrase, weight in largest.items()
        for start in range(len(tokens))
        if tuple(tokens[start : start + len(phrase)]) == phrase
    )
    for hold_completed in (False, True):
        table = BoostTable.compile(phrases, VOCAB_SIZE, hold_completed=hold_completed)
        assert walk(table, tokens)[1] == expected


@settings(deadline=None)
@given(phrases_of, st.randoms(use_true_random=False))
def test_the_order_of_phrases_does_not_matter(phrases: list[BoostPhrase], rng: object) -> None:
    shuffled = list(phrases)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (BoostTable.compile(each, VOCAB_SIZE) for each in (phrases, shuffled))
    assert one.links.equal(other.links)
    assert one.bonuses.equal(other.bonuses)


def test_wenets_traces_step_by_step(golden_dir: Path) -> None:
    golden = json.loads((golden_dir / "u2pp_conformer" / "golden_search.json").read_text())
    context = golden["context_graph"]
    phrases = [BoostPhrase(tuple(ids), context["context_score"]) for ids in context["phrase_ids"]]
    table = BoostTable.compile(phrases, vocab_size=43, hold_completed=True)
    assert len(context["traces"]) > 3
    for trace in context["traces"]:
        totals, completed, pending = walk(table, trace["ids"])
        steps = [after - before for before, after in zip([0.0, *totals], totals, strict=False)]
        assert steps == [step for step, _ in trace["steps"]]
        assert -pending == trace["finalize"]
        assert completed == trace["total"]
