from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from benchmarks.boosting.boost_lists import BoostedWords, BoostList, read_dictionary
from earshot.decoder_kernels.boosting.word_boost import COST_SHARE
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.words.graph_words import GraphWords


@pytest.fixture
def looped() -> Graph:
    """Five words of one token each, any of which may follow; OOV words can be added."""
    arcs = [Arc(0, token + 1, token, 1.0, 0) for token in range(1, 6)]
    words = ["<eps>", "a", "cup", "of", "tea", "stone"]
    return Graph.from_arcs(
        arcs, {0: 0.0}, 1, topology="compact", vocab_size=7, word_texts=words, loop_node=0
    )


def spelled_with(spellings: dict[str, list[int]]) -> Tokenizer:
    units = SimpleNamespace(ids={"<unk>": 0})
    return cast(Tokenizer, SimpleNamespace(encode=spellings.__getitem__, units=units))


def test_every_word_that_is_said_is_listed_once(looped: Graph) -> None:
    found = BoostList.of_texts(["a cup of tea", "a cup of latte"], looped)
    assert found == BoostList(["a", "cup", "of", "tea"], ["latte"])
    assert len(found) == 5


def test_short_words_can_be_left_out() -> None:
    assert BoostList(["a", "cup"], ["an", "latte"]).of_letters(3) == BoostList(["cup"], ["latte"])


def test_a_wrong_list_has_as_many_words_of_both_kinds_and_none_of_the_true_one(
    looped: Graph,
) -> None:
    true = BoostList(["a", "cup"], ["latte"])
    wrong = true.unlike(looped, ["cup", "latte", "granite", "basalt"], seed=1)
    assert set(wrong.known) < {"of", "tea", "stone"}
    assert set(wrong.spelled) < {"granite", "basalt"}
    assert (len(wrong.known), len(wrong.spelled)) == (2, 1)
    assert true.unlike(looped, ["granite", "basalt"], seed=1).known == wrong.known


def test_spelled_words_have_texts_after_those_of_the_graph(looped: Graph) -> None:
    words = BoostList(["tea"], ["latte", "mocha"])
    tokenizer = spelled_with({"tea": [4], "latte": [6, 1], "mocha": [6, 2]})
    boosted = BoostedWords.of(words, 1.0, WfstOptions(), GraphWords(looped, tokenizer))
    assert list(boosted.texts) == [*looped.word_texts, "latte", "mocha"]
    assert boosted.table.spellings == ((6, 1), (6, 2))


def test_without_limits_a_word_of_the_graph_earns_its_weight(looped: Graph) -> None:
    of_graph = GraphWords(looped, spelled_with({"tea": [4]}))
    for limited, earned in ((True, pytest.approx(COST_SHARE)), (False, 15.0)):
        words = BoostedWords.of(BoostList(["tea"], []), 15.0, WfstOptions(), of_graph, limited)
        assert [paid for _, paid in words.table.earned] == [earned]


def test_sequences_are_of_words_that_are_said_in_a_row(looped: Graph) -> None:
    texts = ["a cup of tea"]
    words = BoostList.of_texts(texts, looped).with_sequences(texts, longest=3)
    assert words.sequences == ["a cup", "a cup of", "cup of", "cup of tea", "of tea"]
    assert words.phrases == ["a", "cup", "of", "tea", *words.sequences]


def test_a_word_that_cannot_be_boosted_is_an_error(looped: Graph) -> None:
    words, tokenizer = BoostList([], ["x"]), spelled_with({"x": [99]})
    with pytest.raises(ValueError, match="cannot be boosted"):
        BoostedWords.of(words, 1.0, WfstOptions(), GraphWords(looped, tokenizer))


def test_a_dictionary_gives_words_of_plain_letters(tmp_path: Path) -> None:
    path = tmp_path / "some.dict"
    path.write_text(";;; note\na  AH\na(2)  EY\no'clock  AH K\n3d  TH\n")
    assert read_dictionary(path) == ["a", "o'clock"]
