import numpy as np
import pytest
import torch
from hypothesis import given, settings
from wfst_cases import graphs
from wfst_oracle import WfstOracle

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.epsilon_order import epsilon_order
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_key import LABEL_BITS
from earshot.decoder_kernels.graph.wfst_options import MAX_SCALE, WfstOptions, nats
from earshot.decoder_kernels.graph.wfst_tables import (
    EXCESS_STEP,
    MANY_WORDS,
    WORDS_SHIFT,
    WfstTables,
)
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

SIZES = WfstSearchConfig(
    max_tokens=10, backpointer_capacity=100, entry_capacity=100, candidate_capacity=100
)


@pytest.mark.parametrize("gain", [1e4, 1e9, 1e12, 1e30])
@pytest.mark.parametrize("graph_scale", [0.0, 0.01, 1.0, MAX_SCALE])
def test_no_gain_by_epsilon_is_too_large(
    gain: float, graph_scale: float, device: torch.device
) -> None:
    """The detour over node 1 is hopeless until its epsilon arc is seen."""
    arcs = [Arc(0, 2, 1, 50.0, 1), Arc(1, 0, 2, -gain, 2), Arc(0, 2, 3, 0.0, 2)]
    graph = Graph.from_arcs(
        arcs, {}, 3, topology="compact", vocab_size=2, word_texts=["<eps>", *"abc"]
    )
    options = WfstOptions(beam=8.0, max_active=10, graph_scale=graph_scale)
    search, oracle = WfstSearch(graph, SIZES, 1, device), WfstOracle(graph, options)
    search.set_options(0, options)
    frames = torch.tensor([[[-9.0, 0.0]]], device=device)
    search.advance(torch.tensor([0]), frames, torch.tensor([1]))
    oracle.advance(frames[0].tolist())
    [result] = search.best(torch.tensor([0]))
    assert list(result.hypothesis.words) == [word for word, _ in oracle.best(False)[0].best]
    assert result.hypothesis.words == ((1, 2) if graph_scale else (1,))


@given(graph=graphs())
@settings(deadline=None, max_examples=200)
def test_no_arc_costs_less_than_its_label_and_node_say(graph: Graph) -> None:
    tables = WfstTables.of(graph, torch.device("cpu"))
    order = epsilon_order(graph)
    nodes, packed = tables.nodes.numpy(), tables.labels.numpy()
    for node in range(graph.num_nodes):
        least = float(nodes[node, 2:3].view(np.float32)[0])
        for arc in range(graph.first_label[node], graph.first_arc[node + 1]):
            label, excess = int(packed[arc]) % (1 << LABEL_BITS), int(packed[arc]) >> 16
            words = int(graph.words[arc] != 0) + int(order.words[graph.targets[arc]])
            assert label == graph.labels[arc]
            assert int(packed[arc]) >> LABEL_BITS & MANY_WORDS == min(words, MANY_WORDS)
            assert words <= tables.max_arc_words
            kind = int(tables.kinds[graph.targets[arc]])
            assert kind >> WORDS_SHIFT & 1 == (order.words[graph.targets[arc]] > 0)
            assert int(nodes[node, 4:6].view(np.uint64)[0]) >> label % 64 & 1
            cost = float(graph.weights[arc]) - order.gain[graph.targets[arc]]
            assert least + excess * EXCESS_STEP <= cost
            assert tables.min_weight <= least


def test_an_oov_word_may_end_where_epsilon_gains(device: torch.device) -> None:
    """Only with that gain is its last token affordable."""
    graph = Graph.from_arcs(
        [Arc(0, 0, 0, -3.0, 1), Arc(1, 3, 1, 5.0, 2)],
        {},
        3,
        topology="compact",
        vocab_size=3,
        word_texts=["<eps>", "a"],
        loop_node=0,
        unknown_cost=0.0,
    )
    table = WordBoostTable.compile([WordPhrase(((1, 2),), 0.0)], graph, beam=4.0)
    options = WfstOptions(beam=4.0, max_active=10)
    search, oracle = WfstSearch(graph, SIZES, 1, device), WfstOracle(graph, options, table)
    search.set_options(0, options)
    search.set_boost(0, table)
    frames = torch.tensor([[[0.5, 0.5, 1e-9], [0.6, 0.2, 0.2]]], device=device).log()
    search.advance(torch.tensor([0]), frames, torch.tensor([2]))
    oracle.advance(frames[0].tolist())
    listed = [(one.cost, one.words) for one in search.nbest([0], 10, finalize=[False])[0]]
    assert sorted(listed) == [(nats(cost), words) for cost, words in oracle.nbest(False)]
    assert (2,) in [words for _, words in listed]
