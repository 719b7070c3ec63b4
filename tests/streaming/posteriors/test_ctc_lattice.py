"""Kaldi's text form of lattices, read back as Kaldi reads it."""

import math
from collections import defaultdict

import pytest

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.graph_config import GraphSearchConfig


def read_archive(text):
    """Key, arcs by state `(target, label, cost, frames)`, and final states."""
    key, *lines = text.split("\n")
    assert lines[-2:] == ["", ""]  # an empty line ends a lattice
    arcs, finals = defaultdict(list), []
    for line in lines[:-2]:
        fields = line.split("\t")
        if len(fields) == 1:
            finals.append(int(fields[0]))
        else:
            source, target, label, weight = fields
            graph_cost, acoustic_cost, frames = weight.split(",")
            cost = float(graph_cost) + float(acoustic_cost)
            arcs[int(source)].append(
                (int(target), label, cost, len(frames.split("_")) if frames else 0)
            )
    return key.strip(), arcs, finals


def paths(arcs, finals, state=0):
    """Words, cost and frames of all paths."""
    if state in finals:
        yield (), 0.0, 0
    for target, label, cost, lasts in arcs[state]:
        for words, rest, frames in paths(arcs, finals, target):
            yield ((label,) * (label not in ("0", "<eps>")) + words, cost + rest, lasts + frames)


@pytest.fixture
def result(make_decoder, say):
    search = GraphSearchConfig(lm_weight=1.0, max_active=200, lattice_beam=3.0)
    rows = say("一二三四", gap=1) * 0.4
    [found] = make_decoder(search=search).decode(rows.log_softmax(-1)[None], nbest=100)
    return found


def test_its_paths_are_the_nbest_list_with_its_costs(result):
    key, arcs, finals = read_archive(result.lattice.to_kaldi_text("talk-1", with_texts=True))
    assert key == "talk-1"
    cheapest: dict[str, float] = {}
    for words, cost, frames in paths(arcs, finals):
        text = "".join(words)
        cheapest[text] = min(cost, cheapest.get(text, math.inf))
        assert frames == result.frames
    listed = {each.text: -each.score for each in result.nbest}
    assert 1 < len(listed) < 100
    assert cheapest == pytest.approx(listed, abs=1e-6)


def test_ids_are_those_of_the_graphs_words(result):
    _, by_text, _ = read_archive(result.lattice.to_kaldi_text("a", with_texts=True))
    _, by_id, _ = read_archive(result.lattice.to_kaldi_text("a"))
    texts = result.lattice.texts
    assert {
        state: [(target, texts[int(label)], *rest) for target, label, *rest in arcs]
        for state, arcs in by_id.items()
    } == dict(by_text)


def test_words_that_boosts_bring_have_texts_too(decoder, say):
    [result] = decoder.decode(say("一九二")[None], boosts=["九"])
    assert "\t九\t" in result.lattice.to_kaldi_text("a", with_texts=True)


@pytest.mark.parametrize("key", ["", "two words", " a", "a\n"])
def test_a_key_is_one_word(result, key):
    with pytest.raises(InvalidStreamConfig, match="key of an archive"):
        result.lattice.to_kaldi_text(key)
