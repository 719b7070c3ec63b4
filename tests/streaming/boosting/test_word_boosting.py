"""Phrases for a decoding graph: words by id, words from outside by their spelling."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from earshot.decoder_kernels.boosting.class_member import HOME_COST
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.language.g2p.lexicon import Lexicon
from earshot.language.g2p.pronouncer import Pronouncer
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.boosting.class_members import spelled_members
from earshot.streaming.boosting.word_boosting import compile_word_boosts
from earshot.streaming.entities import Entities, read_entities
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.events import LimitedBoost
from earshot.streaming.stream_config import Boost
from earshot.streaming.words.graph_words import GraphWords

TEA, HOT = 1, 2
OUTSIDE = 3
OPTIONS = WfstOptions(beam=10.0)


def words(letters: str = "teaho▁", **changes) -> GraphWords:
    symbols = ["<blank>", "<unk>", *letters]
    units = UnitTable.parse("".join(f"{s} {i}\n" for i, s in enumerate(symbols)), "letters")
    graph = Graph.from_arcs(
        [],
        {0: 0.0},
        1,
        topology="compact",
        vocab_size=len(symbols),
        word_texts=["<eps>", "tea", "hot"],
        loop_node=0,
        unknown_cost=3.0,
    )
    return GraphWords(replace(graph, **changes), CharTokenizer(units))


def said_as(lexicon: str) -> GraphWords:
    """In phones, by a lexicon that knows more words than the graph."""
    spelled = words("teahond")
    pronouncer = Pronouncer(Lexicon(lexicon, ("A", "B", "C")), None)
    return GraphWords(spelled.graph, spelled.tokenizer, units="phones", pronouncer=pronouncer)


def compiled(*boosts: Boost, of: GraphWords | None = None):
    return compile_word_boosts(boosts, of or words("teaho"), OPTIONS)


def test_words_of_the_graph_go_by_their_ids():
    found = compiled(Boost("hot tea", 2.0), Boost("Tea", -1.0))
    assert [(p.tokens, p.weight) for p in found.phrases] == [((HOT, TEA), 2.0), ((TEA,), -1.0)]
    assert found.table is not None
    assert found.table.oov_words == ()
    assert found.covered([TEA, HOT, TEA]) == [False, True, True]


def test_a_word_from_outside_is_grafted_and_keeps_the_text_of_the_request():
    found = compiled(Boost("hot TOE"), Boost("toe"))
    assert [phrase.tokens for phrase in found.phrases] == [(HOT, OUTSIDE), (OUTSIDE,)]
    assert [(w.text, w.tokens) for (w,) in found.table.oov_words] == [("toe", (2, 6, 3))]
    assert found.covered([OUTSIDE]) == [True]


def test_of_two_phrases_with_the_same_words_the_last_counts():
    found = compiled(Boost("tea", 1.0), Boost("TEA", 5.0))
    assert [phrase.weight for phrase in found.phrases] == [5.0]
    assert found.texts == ("TEA",)


def test_where_the_model_writes_spaces_a_word_comes_with_and_without_one_behind_it():
    found = compiled(Boost("toe tea"), Boost("hoe"), of=words())
    space = 7
    assert [word.text for (word,) in found.table.oov_words] == ["toe", "hoe", "hoe"]
    assert found.table.table.spellings == ((2, 6, 3, space), (5, 6, 3), (5, 6, 3, space))
    assert [phrase.tokens for phrase in found.phrases] == [(3, TEA), (4,), (5,)]
    assert found.texts == ("toe tea", "hoe")


@pytest.mark.parametrize("phrase", ["tea zoo", "", " "])
def test_what_the_model_cannot_write_is_named(phrase):
    found = compiled(Boost(phrase), Boost("tea"))
    assert [warning.phrase for warning in found.warnings] == [phrase]
    assert found.texts == ("tea",)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"loop_node": -1}, "does not say where"), ({"topology": "explicit"}, "takes no words")],
)
def test_a_graph_that_takes_no_words_says_so_once_for_each_phrase(changes, reason):
    found = compiled(Boost("hot toe"), Boost("tea"), of=words(**changes))
    assert [warning.phrase for warning in found.warnings] == ["hot toe"]
    assert reason in found.warnings[0].reason
    assert [phrase.tokens for phrase in found.phrases] == [(TEA,)]
    assert found.table.oov_words == ()


def test_phrases_that_are_too_many_together_are_all_named(monkeypatch):
    monkeypatch.setattr("earshot.decoder_kernels.boosting.word_boost.MAX_CONTEXTS", 2)
    found = compiled(Boost("hot tea"), Boost("zoo"), Boost("toe"))
    assert [warning.phrase for warning in found.warnings] == ["zoo", "hot tea", "toe"]
    assert (found.table, found.phrases) == (None, ())


def test_nothing_boosted_is_no_table():
    assert compiled(Boost("zoo")).table is None
    assert compiled(Boost("toe"), of=words(loop_node=-1)).table is None


def test_what_a_word_earns_follows_the_scale_of_the_stream():
    def earned(scale: float) -> float:
        options = WfstOptions(beam=100.0, graph_scale=scale)
        found = compile_word_boosts([Boost("toe", 20.0)], words("teaho"), options)
        return float(found.table.table.automaton.bonuses.max())

    assert 0.0 < earned(0.5) == earned(1.0) / 2
    assert earned(0.0) == 0.0


def test_a_weight_beyond_what_its_words_can_earn_is_told_with_what_counts():
    options = WfstOptions(beam=10.0, graph_scale=1.0)
    boosts = [Boost("toe", 20.0), Boost("hoe", 1.0), Boost("tea", -20.0)]
    found = compile_word_boosts(boosts, words("teaho"), options)
    assert found.limited == (
        # 0.7 of what it costs to come in: 3.
        LimitedBoost("toe", 20.0, 2.1, "word"),
        LimitedBoost("tea", -20.0, -7.5, "word"),
    )
    assert found.warnings == ()


def test_phrases_whose_words_are_free_are_named_and_heard_without_a_bonus():
    options = WfstOptions(beam=10.0, graph_scale=0.0)
    boosts = [Boost("toe"), Boost("oat", 0.0), Boost("zoo")]
    found = compile_word_boosts(boosts, words(), options)
    assert [warning.phrase for warning in found.warnings] == ["zoo", "toe"]
    assert found.warnings[1].reason == "its words are free at a language model weight of 0"
    assert [word.text for (word,) in found.table.oov_words] == ["toe", "toe", "oat", "oat"]
    assert not any(found.covered([OUTSIDE]))


def test_words_that_only_a_disfavoured_phrase_has_are_not_brought_in():
    found = compiled(Boost("hoe", -1.0))
    [warning] = found.warnings
    assert warning.phrase == "hoe"
    assert warning.reason == "a word that the graph does not have cannot be disfavoured"
    assert found.table is None


def test_of_a_phrase_that_is_said_in_two_ways_one_is_enough():
    found = compiled(Boost("tea & toe"), Boost("&"), of=words("teahond"))
    assert [warning.phrase for warning in found.warnings] == []
    assert found.texts == ("tea & toe", "&")
    found = compiled(Boost("AT&T", 2.0), of=words("atnd"))
    assert [word.text for (word,) in found.table.oov_words] == ["A", "T", "and", "AT"]
    assert {phrase.weight for phrase in found.phrases} == {2.0}
    assert found.texts == ("AT&T",)


def test_a_phrase_is_named_once_where_no_reading_of_it_can_be_had():
    [warning] = compiled(Boost("AT&T"), of=words("at")).warnings
    assert (warning.phrase, "'n', 'd'" in warning.reason) == ("AT&T", True)


def test_phrases_that_are_said_otherwise_than_they_are_written_are_told_from_others():
    found = compiled(Boost("hot, tea"), Boost("toe, ,"), Boost("tea"))
    assert found.read_out([HOT, TEA, TEA, OUTSIDE]) == [True, False, False, True]
    assert found.covered([HOT, TEA, TEA, OUTSIDE]) == [True] * 4
    again = compiled(Boost("tea!"), Boost("tea"), Boost("hot"), Boost("hot!"))
    assert again.read_out([HOT, TEA]) == [False, False]


def test_a_new_word_is_listened_for_in_all_ways_to_say_it():
    found = compiled(Boost("hot toe", 2.0), of=said_as("toe A B\ntoe A C\n"))
    assert found.table.table.spellings == ((1, 2), (1, 3))
    assert [word.text for (word,) in found.table.oov_words] == ["toe", "toe"]
    assert [phrase.tokens for phrase in found.phrases] == [(HOT, OUTSIDE), (HOT, OUTSIDE + 1)]
    assert found.texts == ("hot toe",)


def test_a_way_that_is_another_word_of_the_request_stays_that_words():
    found = compiled(Boost("toe"), Boost("doe"), of=said_as("toe A B\ntoe A C\ndoe A C\n"))
    assert found.warnings == ()
    assert [
        (word.text, spelling)
        for (word,), spelling in zip(
            found.table.oov_words, found.table.table.spellings, strict=True
        )
    ] == [("toe", (1, 2)), ("doe", (1, 3))]


def test_words_that_only_sound_alike_are_still_told_of():
    [warning] = compiled(Boost("toe"), Boost("doe"), of=said_as("toe A B\ndoe A B\n")).warnings
    assert (warning.phrase, "sounds like 'toe'" in warning.reason) == ("doe", True)


def members(*of_name: str, **others: Sequence[str]) -> Entities:
    return read_entities({"name": of_name, **others})


def test_members_come_behind_boosted_words_and_none_is_boosted() -> None:
    of = words("teaho")
    found = compile_word_boosts([Boost("toe")], of, OPTIONS, members("Toe", "eat"))
    assert [word.text for (word,) in found.table.oov_words] == ["toe", "Toe", "eat"]
    assert [each and each.word_class for each in found.table.brought] == [None, "name", "name"]
    assert found.covered([3, 4, 5]) == [True, False, False]
    assert found.texts == ("toe", "Toe", "eat")
    arcs = {arc.word: arc for arc in found.table.table.oov_arcs if arc.word}
    assert arcs.keys() == {3, 4, 5}


def test_members_alone_make_a_table_and_warn_of_nothing() -> None:
    found = compile_word_boosts([], words("teaho"), OPTIONS, members("eat", town=["toe"]))
    assert found.told == ()
    assert [each.word_class for each in found.table.brought if each] == ["name", "town"]
    assert compile_word_boosts([], words("teaho"), OPTIONS).table is None


def test_a_word_that_the_graph_has_and_one_of_two_classes_is_a_member_of_each() -> None:
    found = compile_word_boosts([], words("teaho"), OPTIONS, members("tea", town=["tea"]))
    assert [word.text for (word,) in found.table.oov_words] == ["tea", "tea"]
    assert [each.word_class for each in found.table.brought if each] == ["name", "town"]


def test_what_a_member_pays_on_the_way_is_its_share_and_no_more_than_an_unknown_word() -> None:
    of = words("teaho", unknown_cost=50.0)
    found = compile_word_boosts([], of, OPTIONS, members("eat", "toe"))
    paid = sum(arc.weight for arc in found.table.table.oov_arcs) / 2
    assert paid == pytest.approx(HOME_COST + math.log(2), abs=1e-3)
    member, _ = found.table.table.members
    assert member.added(50.0) == pytest.approx(math.log(2) + 50.0 - paid, abs=1e-3)
    assert member.charge(1.0) == 1.0


def test_where_the_model_writes_spaces_a_member_comes_with_and_without_one() -> None:
    of = words()
    [found], _ = spelled_members(members("eat"), of)
    assert [spelling[3:] for spelling in found.member.spellings] == [(), (of.separator,)]
    assert found.member.share == 1.0


def test_a_member_is_one_word_in_each_likely_way() -> None:
    [found], _ = spelled_members(members("toad"), said_as("toad A B\ntoad A C\n"))
    assert found.member.spellings == ((1, 2), (1, 3))


def test_a_member_of_several_words_is_spelled_as_they_are_in_turn() -> None:
    of, space = words(), 7
    found = compile_word_boosts([], of, OPTIONS, members("Hot toe"))
    spelled = (5, 6, 2, space, 2, 6, 3)
    [member] = found.table.table.members
    assert member.spellings == (spelled, (*spelled, space))
    assert [[word.text for word in told] for told in found.table.oov_words] == [["Hot", "toe"]]
    assert found.texts == ("Hot toe",)


def test_where_words_are_written_without_spaces_none_is_spelled_between_them() -> None:
    [found], _ = spelled_members(members("今 天"), words("今天▁"))
    assert found.member.spellings[0] == (2, 3)


def test_of_several_words_those_ways_go_first_that_are_near_the_likeliest() -> None:
    of = said_as("toe A A\ntoe A B\ntoe A C\ndoe B A\ndoe B B\ndoe B C\n")
    [found], _ = spelled_members(members("toe doe"), of)
    assert found.member.spellings == (
        (1, 1, 2, 1),
        (1, 1, 2, 2),
        (1, 2, 2, 1),
        (1, 1, 2, 3),
        (1, 2, 2, 2),
        (1, 3, 2, 1),
    )


def test_a_class_without_a_member_that_has_a_spelling_is_refused_by_name() -> None:
    with pytest.raises(InvalidStreamConfig, match="entities: 'xy' of name: "):
        spelled_members(members("xy"), words("teaho"))
    with pytest.raises(InvalidStreamConfig, match=r"entities: 'tea xy hot' of name: .*'xy'"):
        spelled_members(members("tea xy hot", "yx"), words("teaho"))


def test_a_member_that_has_no_spelling_is_told_of_and_the_others_share_what_it_had() -> None:
    found = compile_word_boosts([], words("teaho"), OPTIONS, members("eat", "xy", "tea toe"))
    assert [member.share for member in found.table.table.members] == [0.5, 0.5]
    [told] = found.warnings
    assert (told.phrase, told.class_name) == ("xy", "name")
    assert "'x'" in told.reason


def test_a_graph_that_takes_no_words_takes_no_members() -> None:
    with pytest.raises(InvalidStreamConfig, match="takes no words from outside"):
        spelled_members(members("eat"), words("teaho", loop_node=-1))


def test_more_than_the_graph_has_room_for_is_refused(monkeypatch) -> None:
    monkeypatch.setattr("earshot.decoder_kernels.boosting.word_boost.MAX_OOV_NODES", 3)
    with pytest.raises(InvalidStreamConfig, match="entities: words from outside take at most 3"):
        compile_word_boosts([Boost("tea")], words("teaho"), OPTIONS, members("eat", "toe"))
