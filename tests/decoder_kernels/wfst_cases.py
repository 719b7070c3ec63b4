"""Random graphs, options and boosts of tests of graph search, and what they ask of a search."""

from collections.abc import Sequence

import numpy as np
import torch
from hypothesis import strategies as st
from wfst_oracle import WfstOracle

from earshot.decoder_kernels.boosting.class_member import ClassMember
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.graph import TOPOLOGIES, Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, nats
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

SMALL = {"backpointer_capacity": 4096, "entry_capacity": 2048, "candidate_capacity": 8192}
"""Sizes that are enough for them."""

LISTED = 500


def compact_graph(arcs: Sequence[Arc], final: int, words: Sequence[str]) -> Graph:
    """Of three tokens; nodes up to the one where an utterance may end."""
    return Graph.from_arcs(
        arcs,
        {final: 0.0},
        final + 1,
        topology="compact",
        vocab_size=3,
        blank_id=0,
        word_texts=["<eps>", *words],
    )


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A few nodes; epsilon arcs lead to nodes with a higher number, and some of them gain.

    The weights of some are so large that the search clamps them.
    """
    nodes, vocab_size = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    topology = draw(st.sampled_from(TOPOLOGIES))
    blank_id, num_words = draw(st.integers(0, vocab_size - 1)), draw(st.integers(0, 4))
    coarse, spread = draw(st.booleans()), draw(st.sampled_from([1.5, 1.5, 150.0, 15_000.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arcs = []
    for _ in range(draw(st.integers(0, 20))):
        source, target = (int(n) for n in rng.integers(0, nodes, 2))
        label = int(rng.integers(0, vocab_size + 1))
        if topology != "explicit" and label == blank_id + 1:
            label = 0
        if label == 0:
            if source == target:
                continue
            source, target = min(source, target), max(source, target)
        weight = float(rng.normal(1.0, spread))
        word = int(rng.integers(0, num_words + 1))
        arcs.append(Arc(source, label, word, round(weight) if coarse else weight, target))
    finals = {int(n): float(rng.integers(0, 3)) for n in rng.integers(0, nodes, rng.integers(0, 3))}
    return Graph.from_arcs(
        arcs,
        finals,
        nodes,
        topology=topology,
        vocab_size=vocab_size,
        blank_id=blank_id,
        start=int(rng.integers(0, nodes)),
        word_texts=["<eps>", *"abcd"[:num_words]],
        loop_node=draw(st.integers(-1, nodes - 1)),
        unknown_cost=draw(st.sampled_from([0.0, 1.0, 2.5])),
    )


@st.composite
def tables(draw: st.DrawFn, graph: Graph, classes: Sequence[str] = ()) -> WordBoostTable | None:
    """A boost table with words of the graph and others, or none; often with members of classes.

    Often as if all words were dear, so that boosts outweigh arcs.
    """
    spelling = st.lists(st.integers(0, graph.vocab_size - 1), min_size=1, max_size=3).map(tuple)
    word: st.SearchStrategy[int | tuple[int, ...]] = spelling
    if len(graph.word_texts) > 1:
        word = st.integers(1, len(graph.word_texts) - 1) | spelling
    phrase = st.builds(
        WordPhrase,
        words=st.lists(word, min_size=1, max_size=3).map(tuple),
        weight=st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0, 20.0]),
    )
    phrases = draw(st.none() | st.lists(phrase, min_size=1, max_size=4))
    members = draw(_members(graph, classes))
    if phrases is None and not members:
        return None
    phrases = phrases or []
    costs = draw(st.sampled_from([None, np.full(len(graph.word_texts), 40.0)]))
    beam = draw(st.sampled_from([8.0, 50.0]))
    return WordBoostTable.compile(phrases, graph, beam=beam, costs=costs, members=members)


@st.composite
def _members(draw: st.DrawFn, graph: Graph, classes: Sequence[str]) -> list[ClassMember]:
    """Of a graph that takes words from outside.

    Some are spelled alike, some as several words, some in several ways.
    """
    tokens = [token for token in range(graph.vocab_size) if token != graph.blank_id]
    if not classes or not tokens or graph.topology == "explicit" or graph.loop_node < 0:
        return []
    spelling = st.lists(st.sampled_from(tokens), min_size=1, max_size=6).map(tuple)
    member = st.builds(
        ClassMember,
        spellings=st.lists(spelling, min_size=1, max_size=3, unique=True).map(tuple),
        word_class=st.sampled_from(classes),
        share=st.sampled_from([1.0, 0.5, 0.25, 1e-3]),
    )
    return draw(st.lists(member, max_size=6))


def options() -> st.SearchStrategy[WfstOptions]:
    return st.builds(
        WfstOptions,
        beam=st.sampled_from([0.5, 3.0, 8.0, 1e3, 1e9]),
        max_active=st.sampled_from([1, 2, 3, 7, 1000]),
        lattice_beam=st.sampled_from([0.5, 3.0, 8.0]),
        acoustic_scale=st.sampled_from([0.0, 0.7, 1.0]),
        graph_scale=st.sampled_from([0.0, 0.8, 1.0, 10.0]),
        blank_skip=st.sampled_from([0.5, 1.0, 1.0]),
    )


@st.composite
def search_configs(draw: st.DrawFn) -> WfstSearchConfig:
    """Some workers, and blocks of one thread or several."""
    return WfstSearchConfig(
        max_tokens=1000,
        workers=draw(st.integers(1, 3)),
        block_threads=draw(st.sampled_from([None, None, None, 2, 5])),  # None: the device's
        **SMALL,
    )


def assert_as_oracle(
    search: WfstSearch, slot: int, oracle: WfstOracle, *, lists_are_exact: bool = True
) -> None:
    """The same best path with its times, the same n-best list, the same stable words.

    lists_are_exact: whether a list that was cut has the cheapest of all.
    """
    assert search.num_tokens(torch.tensor([slot])) == [len(oracle.tokens)]
    for finalize in (False, True):
        [result] = search.best(torch.tensor([slot]), finalize=finalize)
        token, cost = oracle.best(finalize)
        found = result.hypothesis
        assert list(zip(found.words, found.frames, strict=True)) == list(token.best)
        assert found.cost == nats(cost)
        assert found.reached_final == oracle.ends(finalize)[1]
        assert result.stable_length == min(oracle.stable_length(), len(found.words))
        [listed] = search.nbest([slot], LISTED, finalize=[finalize])
        assert listed is not None
        expected = [(nats(cost), words) for cost, words in oracle.nbest(finalize)]
        if len(expected) < LISTED:
            assert sorted((one.cost, one.words) for one in listed) == expected
        elif lists_are_exact:
            assert [one.cost for one in listed] == [cost for cost, _ in expected[:LISTED]]
        assert [one.cost for one in listed] == sorted(one.cost for one in listed)
