import string
from itertools import accumulate

import pytest
from boost_walk import BoostWalk

from earshot.decoder_kernels.boosting.boost import TOKEN_LIMIT
from earshot.models.bundled import bundled_model_dir
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.model_tokenizer import load_tokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.boosting.boosting import compile_boosts
from earshot.streaming.stream_config import Boost, StreamConfig


def compiled(tone_model, *boosts):
    return compile_boosts(boosts, tone_model.tokenizer)


def test_phrases_become_tokens_and_the_last_weight_counts(tone_model):
    found = compiled(tone_model, Boost("一二", 2.0), Boost("三", -1.0), Boost(" 一二 ", 5.0))
    assert [(p.tokens, p.weight) for p in found.phrases] == [((3, 4), 5.0), ((5,), -1.0)]
    assert found.table is not None
    assert found.warnings == ()


def test_what_cannot_be_boosted_is_named(tone_model):
    found = compiled(tone_model, Boost("一x"), Boost(""), Boost("二"))
    assert [warning.phrase for warning in found.warnings] == ["一x", ""]
    assert "x" in found.warnings[0].reason
    assert found.texts == ("二",)


@pytest.mark.parametrize("mode", ["ctc_greedy_search", "attention"])
def test_modes_without_a_beam_of_ours_say_so(make_engine, tone_model, mode):
    config = StreamConfig(mode=mode)
    found = make_engine(tone_model)._recognizer.compile([Boost("一")], config)
    assert [warning.phrase for warning in found.warnings] == ["一"]
    assert found.table is None


def test_a_table_that_does_not_fit_names_all_its_phrases(tone_model):
    refused = compiled(tone_model, Boost("一"), Boost("x"), Boost("二")).refused("no room")
    assert [warning.phrase for warning in refused.warnings] == ["x", "一", "二"]
    assert refused.table is None


def test_tokens_of_complete_favoured_phrases_are_covered(tone_model):
    found = compiled(tone_model, Boost("一二", 2.0), Boost("二三四", 2.0), Boost("五", -2.0))
    assert found.covered([3, 4, 5, 6, 3]) == [True, True, True, True, False]
    assert found.covered([4, 5, 3, 7]) == [False] * 4


def test_no_weight_makes_a_sequence_earn_more_than_the_limit_per_token(tone_model):
    boosts = [Boost(phrase, 20.0) for phrase in ("一", "二", "一二", "三四")]
    table = compiled(tone_model, *boosts).table
    automaton = BoostWalk(table)
    state, kept = 0, 0.0
    for token in [3, 4] * 10:
        state = automaton.step(state, token)
        kept += automaton.completed(state)
    assert kept == pytest.approx(20 * TOKEN_LIMIT)
    state = automaton.step(automaton.step(0, 5), 6)
    assert automaton.completed(state) == pytest.approx(2 * TOKEN_LIMIT)


def test_phrases_that_are_said_otherwise_than_they_are_written_are_told_from_others(tone_model):
    found = compiled(tone_model, Boost("一, 二"), Boost("二三"))
    assert found.covered([3, 4, 5]) == [True] * 3
    assert found.texts == ("一, 二", "二三")
    assert found.read_out([3, 4, 5]) == [True, False, False]
    again = compiled(tone_model, Boost("一"), Boost("一!"))
    assert again.read_out([3]) == [False]


class TestCapitals:
    """Phrases under a tokenizer that writes capitals itself."""

    @pytest.fixture
    def tokenizer(self) -> CharTokenizer:
        return CharTokenizer(UnitTable.of(string.ascii_letters + "▁", "letters"))

    @pytest.fixture
    def boosted(self, tokenizer):
        """Each spelling that is boosted, and its weight."""

        def of(*boosts: Boost) -> dict[str, float]:
            found = compile_boosts(boosts, tokenizer)
            return {tokenizer.decode(each.tokens): each.weight for each in found.phrases}

        return of

    def test_a_phrase_is_boosted_in_those_that_the_model_may_write(self, boosted):
        assert boosted(Boost("acMe", 2.0)) == dict.fromkeys(("acMe", "acme", "Acme", "ACME"), 2.0)

    def test_another_phrase_has_its_own_weight(self, boosted):
        asked = boosted(Boost("US", 2.0), Boost("us", -1.0))
        assert asked == {"US": 2.0, "us": -1.0, "Us": -1.0}

    def test_words_are_covered_in_all_of_them_and_are_the_requests(self, tokenizer):
        found = compile_boosts([Boost("acMe")], tokenizer)
        for spelling in ("acme", "Acme", "ACME", "acMe"):
            tokens = tokenizer.encode(spelling)
            assert found.covered(tokens) == [True] * 4
            assert found.read_out(tokens) == [False] * 4
            assert found.capitals.of([spelling], [True]) == ["acMe"]
        assert found.covered(tokenizer.encode("AcMe")) == [False] * 4

    def test_what_is_said_otherwise_than_it_is_written_is_still_told(self, tokenizer):
        found = compile_boosts([Boost("2")], tokenizer)
        for spelling in ("two", "Two"):
            assert found.read_out(tokenizer.encode(spelling)) == [True] * 3

    def test_a_phrase_that_cannot_be_written_is_named_once(self, tokenizer):
        found = compile_boosts([Boost("ζ")], tokenizer)
        assert [warning.phrase for warning in found.warnings] == ["ζ"]
        assert found.table is None


def test_a_space_of_its_own_has_nothing_pending():
    """All sorts of words begin with one where a model has few pieces."""
    tokenizer = load_tokenizer(bundled_model_dir())
    found = compile_boosts([Boost("zebra", 2.0)], tokenizer)
    space, *letters = found.phrases[0].tokens
    assert tokenizer.token(space) == "▁"
    automaton = BoostWalk(found.table)
    states = list(accumulate((space, *letters), automaton.step, initial=0))[1:]
    assert automaton.pending(states[0]) == 0.0
    assert automaton.pending(states[1]) == 2.0
