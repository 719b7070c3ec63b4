"""The oracle itself is right: against all alignments, written out, and against the C library."""

import itertools
import math
import random
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prefix_oracle import OracleSearch, PhraseStates, log_add

from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable

MINUS_INFINITY = float("-inf")


def collapsed(alignment: tuple[int, ...], blank: int = 0) -> tuple[int, ...]:
    return tuple(token for token, _ in itertools.groupby(alignment) if token != blank)


def random_rows(rng: random.Random, frames: int, vocab_size: int) -> list[list[float]]:
    rows = []
    for _ in range(frames):
        weights = [rng.random() + 1e-3 for _ in range(vocab_size)]
        rows.append([math.log(weight / sum(weights)) for weight in weights])
    return rows


@settings(deadline=None)
@given(st.floats(-500, 500), st.floats(-500, 500))
def test_log_add_agrees_with_the_c_library(a: float, b: float) -> None:
    high, low = max(a, b), min(a, b)
    expected = high + math.log1p(math.exp(low - high))
    assert log_add(a, b) == log_add(b, a)
    assert abs(log_add(a, b) - expected) <= 2 * math.ulp(max(abs(high), abs(expected), 1.0))


def test_log_add_with_nothing_changes_nothing() -> None:
    assert log_add(MINUS_INFINITY, -1.5) == log_add(-1.5, MINUS_INFINITY) == -1.5
    assert log_add(MINUS_INFINITY, MINUS_INFINITY) == MINUS_INFINITY


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_that_never_prunes_sums_over_all_alignments(seed: int) -> None:
    frames, vocab_size = 5, 3
    rows = random_rows(random.Random(seed), frames, vocab_size)
    total: dict[tuple[int, ...], float] = defaultdict(float)
    for alignment in itertools.product(range(vocab_size), repeat=frames):
        probability = math.exp(sum(row[token] for row, token in zip(rows, alignment, strict=True)))
        total[collapsed(alignment)] += probability
    search = OracleSearch(beam_size=1000, token_beam=vocab_size)
    search.advance(rows)
    found = {one.tokens: one.score for one in search.nbest()}
    assert found.keys() == total.keys()
    for tokens, score in found.items():
        assert score == pytest.approx(math.log(total[tokens]), abs=1e-12)


def test_the_best_is_the_likeliest_of_all_alignments() -> None:
    rows = random_rows(random.Random(7), frames=6, vocab_size=3)
    search = OracleSearch(beam_size=1000, token_beam=3)
    search.advance(rows)
    scores = [one.score for one in search.nbest()]
    assert scores == sorted(scores, reverse=True)
    assert math.fsum(map(math.exp, scores)) == pytest.approx(1.0, abs=1e-12)


def test_an_automaton_steps_through_suffixes() -> None:
    phrases = [BoostPhrase((1, 2, 3), 1.0), BoostPhrase((2, 4), 1.0)]
    automaton = PhraseStates(BoostTable.compile(phrases, vocab_size=6))
    state = automaton.step(automaton.step(0, 1), 2)
    assert automaton.tokens(state) == {1, 2, 3, 4}
    assert automaton.completed(automaton.step(state, 4)) == 2.0
    assert automaton.step(state, 5) == 0


def test_without_a_table_nothing_is_boosted() -> None:
    automaton = PhraseStates(None)
    assert automaton.step(0, 1) == 0
    assert automaton.tokens(0) == set()
    assert automaton.pending(0) == automaton.completed(0) == 0.0
