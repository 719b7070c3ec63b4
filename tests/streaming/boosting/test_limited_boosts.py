"""Weights beyond what a phrase can earn are told with what counts instead."""

import numpy as np
import pytest

from earshot.decoder_kernels.boosting.boost import TOKEN_LIMIT
from earshot.streaming.boosting.boosting import compile_boosts
from earshot.streaming.boosting.limited_boosts import limited_boosts, most_earned
from earshot.streaming.events import LimitedBoost
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.stream_config import Boost


def test_the_way_to_say_it_that_earns_most_counts():
    earned = [("2026", 6.0, each) for each in (2.0, 4.04, 3.0)] + [("tea", 3.0, 3.0)]
    assert limited_boosts(earned, "word") == (LimitedBoost("2026", 6.0, 4.0, "word"),)


@pytest.mark.parametrize(
    ("weight", "effective"), [(3.0, 2.99), (0.0, 0.0), (5.0, 0.0), (-6.0, -6.0)]
)
def test_what_is_as_asked_or_not_boosted_at_all_is_not_told(weight, effective):
    assert limited_boosts([("tea", weight, effective)], "word") == ()


def test_the_weight_that_counts_is_a_plain_number():
    [limited] = limited_boosts([("tea", 6.0, np.float64(3.6))], "word")
    assert repr(limited.effective_weight) == "3.6"


def test_a_negative_weight_beyond_its_limit_is_told():
    [limited] = limited_boosts([("tea", -20.0, -6.0)], "word")
    assert limited.effective_weight == -6.0


def test_without_a_graph_the_limit_is_that_of_a_token(tone_model):
    found = compile_boosts([Boost("一二", 20.0), Boost("三", 2.0)], tone_model.tokenizer)
    assert found.limited == (LimitedBoost("一二", 20.0, TOKEN_LIMIT, "token"),)
    assert found.told == found.limited
    assert found.refused("no room").limited == ()
    assert most_earned(None) == TOKEN_LIMIT


def test_phrases_that_complete_each_other_are_told_what_is_left(tone_model):
    """`一` is said in `一二` too: together they may earn what their tokens cost."""
    boosts = [Boost("一", 3.0), Boost("二", 3.0), Boost("一二", 3.0)]
    limited = compile_boosts(boosts, tone_model.tokenizer).limited
    assert {each.phrase: each.effective_weight for each in limited} == dict.fromkeys(
        ("一", "二", "一二"), TOKEN_LIMIT / 2
    )


def test_in_a_graph_no_weight_beyond_three_quarters_of_the_beam_counts():
    assert most_earned(GraphSearchConfig(beam=12.0)) == 9.0
    assert most_earned(GraphSearchConfig(beam=100.0)) == 20.0
