"""What is boosted does not pay for being said again and again, however phrases overlap."""

import itertools
import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.decoder_kernels.boosting import boost_cycles
from earshot.decoder_kernels.boosting.boost import BoostPhrase
from earshot.decoder_kernels.boosting.boost_cycles import safe_phrases

Tokens = tuple[int, ...]
WORDS = 3
LONGEST_ROUND = 5
weighted = st.dictionaries(
    st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=3).map(tuple),
    st.sampled_from([-3.0, 0.0, 0.5, 1.0, 3.0, 1e3]),
    min_size=1,
    max_size=5,
)
price_lists = st.lists(st.sampled_from([0.0, 0.5, 1.0, 4.0]), min_size=WORDS, max_size=WORDS)


def safe(weights: Mapping[Tokens, float], prices: Sequence[float]) -> dict[Tokens, float]:
    """What each phrase may earn per token."""
    phrases = [BoostPhrase(tokens, weight) for tokens, weight in weights.items()]
    return {each.tokens: each.weight for each in safe_phrases(phrases, lambda t: prices[t])}


def gain_of_a_round(
    weights: Mapping[Tokens, float], prices: Sequence[float], once: Tokens
) -> float:
    """What one more time of saying these tokens brings, after many."""
    said = once * 8
    earned = sum(
        len(tokens) * max(0.0, weight)
        for tokens, weight in weights.items()
        for end in range(len(said) - len(once) + 1, len(said) + 1)
        if said[end - len(tokens) : end] == tokens
    )
    return earned - sum(prices[token] for token in once)


def best_round(weights: Mapping[Tokens, float], prices: Sequence[float]) -> float:
    """The most that any short round brings."""
    return max(
        gain_of_a_round(weights, prices, once)
        for length in range(1, LONGEST_ROUND + 1)
        for once in itertools.product(range(WORDS), repeat=length)
    )


@given(weighted, price_lists)
def test_no_round_pays(weights: dict[Tokens, float], prices: list[float]) -> None:
    assert best_round(safe(weights, prices), prices) < 1e-6


@given(weighted, price_lists)
def test_a_round_would_pay_if_all_that_was_cut_were_a_hundredth_more(
    weights: dict[Tokens, float], prices: list[float]
) -> None:
    lowered = safe(weights, prices)
    if lowered == {tokens: BoostPhrase(tokens, w).bonus for tokens, w in weights.items()}:
        return
    raised = {
        tokens: weight * 1.01 if 0.0 < weight < weights[tokens] else weight
        for tokens, weight in lowered.items()
    }
    free = all(weight <= 0.0 for tokens, weight in lowered.items() if weights[tokens] > weight)
    assert free or best_round(raised, prices) > 0.0


def test_phrases_that_cannot_gain_are_left_alone() -> None:
    weights = {(0,): 1.0, (0, 1): 0.5, (2,): -7.0}
    assert safe(weights, [2.0, 2.0, 2.0]) == weights


def test_a_phrase_alone_earns_what_its_tokens_cost() -> None:
    assert safe({(0, 1): 1e3}, [1.0, 4.0]) == {(0, 1): 2.5}


def test_phrases_that_overlap_share_what_their_tokens_cost() -> None:
    weights = safe({(0,): 1e3, (1,): 1e3, (0, 1): 1e3}, [3.0, 3.0])
    assert weights == pytest.approx({(0,): 1.5, (1,): 1.5, (0, 1): 1.5})


def test_those_that_earn_little_are_lowered_last() -> None:
    weights = safe({(0,): 0.5, (1,): 1e3, (0, 1): 1e3}, [3.0, 3.0])
    assert weights == pytest.approx({(0,): 0.5, (1,): 5.5 / 3, (0, 1): 5.5 / 3})


def test_phrases_that_share_no_sequence_do_not_lower_each_other() -> None:
    weights = safe({(0,): 1e3, (0, 0): 1e3, (1, 2): 1e3}, [3.0, 3.0, 3.0])
    assert weights[(1, 2)] == 3.0


def test_a_phrase_that_overlaps_itself_shares_with_itself() -> None:
    assert safe({(0, 0): 1e3}, [3.0]) == pytest.approx({(0, 0): 1.5})


def test_words_that_nobody_can_say_have_no_limit_but_the_clamp() -> None:
    assert safe({(0,): 5.0, (0, 1): 2.0}, [math.inf, 1.0]) == {(0,): 5.0, (0, 1): 2.0}


def test_free_words_earn_nothing() -> None:
    assert safe({(0,): 5.0, (0, 1): 2.0}, [0.0, 0.0]) == {(0,): 0.0, (0, 1): 0.0}


def test_words_that_cost_next_to_nothing_earn_no_more() -> None:
    least = math.ulp(0.0)
    assert safe({(0,): 3.0, (0, 1): 3.0}, [least, least, 1.0]) == {(0,): least, (0, 1): least}


def test_a_list_too_large_to_be_searched_is_safe_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights = {(0,): 1e3, (1,): 0.5, (0, 1): 1e3, (1, 2, 0): 1e3}
    monkeypatch.setattr(boost_cycles, "MAX_STEPS", 1)
    rough = safe(weights, [3.0, 3.0, 3.0])
    assert rough == pytest.approx({(0,): 0.5, (1,): 0.5, (0, 1): 0.5, (1, 2, 0): 0.5})
    assert best_round(rough, [3.0, 3.0, 3.0]) <= 0.0


@pytest.mark.parametrize("weight", [0.0, -5.0])
def test_a_list_without_a_bonus_stays(weight: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boost_cycles, "MAX_STEPS", 0)
    assert safe({(0, 1): weight}, [1.0, 1.0]) == {(0, 1): weight}
