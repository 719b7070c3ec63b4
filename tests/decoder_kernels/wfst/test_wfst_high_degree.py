"""Thousands of arcs: labels found by bisection, arcs shared by threads, tables outgrown."""

import numpy as np
import pytest
import torch
from wfst_oracle import WfstOracle

from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, nats
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

VOCAB = 5000
CONFIG = WfstSearchConfig(max_tokens=6000, entry_capacity=1 << 16, candidate_capacity=1 << 16)
FLAT, PEAKED = 1.0, 60.0


@pytest.fixture(scope="module")
def high_degree() -> Graph:
    """Node 0 has an arc for each label, and two for some; they end in nodes with one arc each."""
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.0, 6.0, VOCAB + 20)
    arcs = [
        Arc(0, 1 + label, label % 3, float(weights[label]), 1 + label % 3)
        for label in range(1, VOCAB)
    ]
    arcs += [Arc(0, 7, 1, float(weights[VOCAB + i]), 1 + i % 3) for i in range(20)]
    arcs += [Arc(node, 10 + node, 2, 0.5, 1 + node % 3) for node in (1, 2, 3)]
    return Graph.from_arcs(
        arcs,
        {1: 0.0},
        4,
        topology="compact",
        vocab_size=VOCAB,
        blank_id=0,
        word_texts=["<eps>", "a", "b"],
    )


@pytest.mark.parametrize("block_threads", [None, 5])
@pytest.mark.parametrize("sharpness", [FLAT, PEAKED])
def test_a_high_degree_node_is_searched_as_by_the_oracle(
    high_degree: Graph, sharpness: float, block_threads: int | None, device: torch.device
) -> None:
    rng = np.random.default_rng(1)
    scores = torch.from_numpy(rng.gumbel(size=(3, VOCAB))).float() * sharpness
    frames = scores.log_softmax(dim=-1)
    options = WfstOptions(beam=25.0, max_active=6000)
    config = WfstSearchConfig(**{**vars(CONFIG), "block_threads": block_threads})
    search, oracle = WfstSearch(high_degree, config, 1, device), WfstOracle(high_degree, options)
    search.set_options(0, options)
    slot = torch.tensor([0])
    search.advance(slot, frames[None].to(device), torch.tensor([3]))
    oracle.advance(frames.tolist())
    assert search.num_tokens(slot) == [len(oracle.tokens)]
    [result] = search.best(slot, finalize=True)
    token, cost = oracle.best(True)
    assert result.hypothesis.cost == nats(cost)
    assert list(zip(result.hypothesis.words, result.hypothesis.frames, strict=True)) == list(
        token.best
    )
    assert search.overflows() == 0


@pytest.mark.parametrize("block_threads", [None, 2, 3, 5])
def test_a_cutoff_that_falls_inside_a_high_degree_node_loses_none_of_its_arcs(
    block_threads: int | None, device: torch.device
) -> None:
    """The first arcs followed lower the cutoff, after which other threads may share out anew."""
    costs = np.random.default_rng(0).uniform(0.0, 50.0, VOCAB).astype(np.float32)
    frames = torch.full((2, VOCAB), -60.0)
    frames[0, 1] = frames[0, 2] = 0.0
    frames[1] = -torch.from_numpy(costs)
    frames[1, :9] = -60.0
    frames[1, 3] = -20.0  # the only arc of the cheaper token
    arcs = [Arc(0, 2, 0, 0.0, 1), Arc(0, 3, 0, 1.0, 2), Arc(1, 4, 0, 0.0, 3)]
    arcs += [Arc(2, label, 0, 0.0, 3) for label in range(10, VOCAB)]
    graph = Graph.from_arcs(
        arcs, {3: 0.0}, 4, topology="compact", vocab_size=VOCAB, word_texts=["<eps>"]
    )
    config = WfstSearchConfig(**{**vars(CONFIG), "block_threads": block_threads})
    options = WfstOptions(beam=2.0, max_active=6000)
    search, oracle = WfstSearch(graph, config, 1, device), WfstOracle(graph, options)
    search.set_options(0, options)
    search.advance(torch.tensor([0]), frames[None].to(device), torch.tensor([2]))
    oracle.advance(frames.tolist())
    assert search.num_tokens(torch.tensor([0])) == [len(oracle.tokens)]


def backpointers_made(
    graph: Graph, frames: torch.Tensor, block_threads: int | None, device: torch.device
) -> int:
    config = WfstSearchConfig(max_tokens=3000, block_threads=block_threads)
    search = WfstSearch(graph, config, 1, device)
    search.set_options(0, WfstOptions(beam=12.0, max_active=3000, lattice_beam=4.0))
    search.advance(torch.tensor([0]), frames[None].to(device), torch.tensor([len(frames)]))
    return search.backpointers_in_use(0)


def test_backpointers_do_not_depend_on_the_order_of_threads(device: torch.device) -> None:
    """Epsilon arcs lead to a node of high degree: candidates of very different costs meet there."""
    rng = np.random.default_rng(0)
    nodes, vocab = 60, 40
    arcs = [Arc(node, 0, 0, float(rng.uniform(0, 3)), nodes) for node in range(nodes)]
    for source in [*range(nodes)] * 3 + [nodes] * 40:
        label, target = int(rng.integers(2, vocab + 1)), int(rng.integers(0, nodes))
        arcs.append(Arc(source, label, int(rng.integers(0, 3)), float(rng.uniform(0, 3)), target))
    graph = Graph.from_arcs(
        arcs, {}, nodes + 1, topology="compact", vocab_size=vocab, word_texts=["<eps>", "a", "b"]
    )
    scores = torch.from_numpy(rng.gumbel(size=(40, vocab))).float()
    scores[:, 0] += 3.0  # blank: tokens stay in their nodes, and dearer ways arrive there
    frames = scores.log_softmax(dim=-1)
    assert {backpointers_made(graph, frames, threads, device) for threads in (None, 5, 5, 5)} == {
        backpointers_made(graph, frames, 1, torch.device("cpu"))
    }


def alternatives(
    graph: Graph, frames: torch.Tensor, block_threads: int | None, device: torch.device
) -> tuple[int, set[str]]:
    """Frames that overflow, and the n-best list, with few backpointers."""
    config = WfstSearchConfig(
        max_tokens=2000, backpointer_capacity=600, block_threads=block_threads
    )
    search = WfstSearch(graph, config, 1, device)
    search.set_options(0, WfstOptions(beam=8.0, max_active=200, lattice_beam=4.0))
    search.advance(torch.tensor([0]), frames[None].to(device), torch.tensor([len(frames)]))
    [found] = search.nbest([0], 200, finalize=[False])
    return search.overflows(), {f"{each.cost} {each.words}" for each in found}


def test_backpointers_that_run_out_do_so_whatever_the_number_of_threads(
    device: torch.device,
) -> None:
    rng = np.random.default_rng(36)
    nodes, vocab = int(rng.integers(5, 40)), 12
    arcs = []
    for source in range(nodes):
        if rng.random() < 0.5 and source < nodes - 1:
            weight, later = float(rng.uniform(0, 2)), int(rng.integers(source + 1, nodes))
            arcs.append(Arc(source, 0, 0, weight, later))
        for _ in range(3):
            label, word = int(rng.integers(2, vocab + 1)), int(rng.integers(0, 4))
            weight, target = float(rng.uniform(0, 2)), int(rng.integers(0, nodes))
            arcs.append(Arc(source, label, word, weight, target))
    graph = Graph.from_arcs(
        arcs, {}, nodes, topology="compact", vocab_size=vocab, word_texts=["<eps>", *"abc"]
    )
    scores = torch.from_numpy(rng.gumbel(size=(40, vocab))).float()
    scores[:, 0] += 2.0
    frames = scores.log_softmax(dim=-1)
    overflows, expected = alternatives(graph, frames, 1, torch.device("cpu"))
    assert overflows > 0
    for threads in (None, 3, 3, 5):
        assert alternatives(graph, frames, threads, device) == (overflows, expected)
