"""The words of a graph: found by their text, spelled by the model's tokenizer."""

import pytest

from earshot.decoder_kernels.graph.graph import Graph
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.errors import UnusableGraph
from earshot.streaming.words.graph_words import GraphWords, spaces


def tokenizer(letters: str, *special: str) -> CharTokenizer:
    symbols = ["<blank>", *special, *letters]
    return CharTokenizer(
        UnitTable.parse("".join(f"{s} {i}\n" for i, s in enumerate(symbols)), "letters")
    )


def words(letters: str, *texts: str, special=("<unk>",)) -> GraphWords:
    units = tokenizer(letters, *special)
    graph = Graph.from_arcs(
        [],
        {0: 0.0},
        1,
        topology="compact",
        vocab_size=units.vocab_size,
        word_texts=["<eps>", *texts],
    )
    return GraphWords(graph, units)


def test_a_word_is_found_as_written_or_else_whatever_its_case():
    found = words("abpolish", "Polish", "polish", "a")
    assert [found.find(text) for text in ("Polish", "polish", "POLISH", "A", "b")] == [
        1,
        2,
        1,
        3,
        None,
    ]
    assert found.find("<eps>") is None


def test_words_are_spelled_by_the_tokenizer_and_with_unk_where_it_cannot():
    found = words("ab", "AB", "a<b")
    assert (found.spelled(1).text, found.spelled(1).tokens) == ("AB", (2, 3))
    assert (found.spelled(2).text, found.spelled(2).tokens) == ("a<b", (1,))


def test_a_model_without_unk_takes_only_what_it_can_spell():
    assert words("ab", "ab", special=()).spelled(1).tokens == (1, 2)
    with pytest.raises(UnusableGraph, match=r"'c'.*no <unk>"):
        words("ab", "ab", "c", special=())


@pytest.mark.parametrize(
    ("phrase", "split"),
    [
        ("tea  now", [1, "now"]),
        ("Tea", [1]),
        ("今天天气", [2, 3]),
        ("今天 tea", [2, 1]),
        ("今天x", ["今天x"]),
        ("今天雨", ["今天雨"]),
        (" ", []),
    ],
)
def test_a_phrase_falls_into_words(phrase, split):
    assert words("tea今天气", "tea", "今天", "天气", "今", "天").split(phrase) == split


def test_no_word_is_looked_for_that_is_longer_than_the_longest(monkeypatch):
    found, looked_for = words("今天气", "今天", "今", "天气"), []
    find = found.find

    def noting(text):
        looked_for.append(text)
        return find(text)

    monkeypatch.setattr(found, "find", noting)
    phrase = "今" * 200
    assert found.split(phrase) == [2] * 200
    longest = max(len(text) for text in found.graph.word_texts)
    assert looked_for[0] == phrase
    assert max(map(len, looked_for[1:])) == longest
    assert len(looked_for) <= 1 + longest * len(phrase)


def test_a_space_stands_between_words_but_not_between_cjk_characters():
    assert spaces(["tea", "now", "今天", "天气", "x"]) == [False, True, True, False, True]
    assert spaces([]) == []


@pytest.mark.parametrize(
    ("phrase", "split"),
    [
        ("Café", [1]),
        ("ice-CAFÉ", [2, 1]),
        ("ice\u2019d", [3]),
        ("ice-Zoë", [2, "Zoë"]),
        ("-", []),
        ("fac", ["fac"]),
    ],
)
def test_signs_that_the_model_cannot_write_are_no_matter(phrase, split):
    assert words("acdefi'", "cafe", "ice", "ice'd").split(phrase) == split


def test_accents_that_the_model_writes_make_another_word():
    assert words("acdefé", "cafe").split("café") == ["café"]
