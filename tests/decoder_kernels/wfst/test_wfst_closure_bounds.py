"""Epsilon arcs are not followed again while tokens stay: unless what came of them has changed."""

import torch
from torch import Tensor
from wfst_cases import compact_graph
from wfst_oracle import WfstOracle

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, nats
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

SLOT = torch.tensor([0])
A, B = 1, 2
OPTIONS = WfstOptions(beam=10.0, max_active=100, lattice_beam=5.0)


def sure_of(*tokens: int) -> Tensor:
    """Frames (T, 3) in which all other tokens are hopeless."""
    return torch.tensor([[0.0 if i == token else -30.0 for i in range(3)] for token in tokens])


def advance(search: WfstSearch, frames: Tensor) -> None:
    search.advance(SLOT, frames[None].contiguous(), torch.tensor([len(frames)]))


def best_words(search: WfstSearch) -> list[int]:
    return list(search.best(SLOT)[0].hypothesis.words)


def test_a_boost_that_comes_while_a_token_stays_is_earned_on_its_epsilon_arcs(
    device: torch.device,
) -> None:
    graph = compact_graph(
        [
            Arc(0, 2, 0, 1.0, 1),
            Arc(1, 0, A, 1.0, 2),
            Arc(1, 0, B, 0.5, 3),
            Arc(2, 3, 0, 0.5, 4),
            Arc(3, 3, 0, 0.5, 4),
        ],
        4,
        ["a", "b"],
    )
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=100), 1, device)
    search.set_options(0, OPTIONS)
    oracle = WfstOracle(graph, OPTIONS)
    table = WordBoostTable.compile([WordPhrase((A,), 3.0)], graph)
    before, after = sure_of(1, 0).to(device), sure_of(0, 2).to(device)
    advance(search, before)
    oracle.advance(before.tolist())
    search.set_boost(0, table)
    oracle.set_boost(table)
    advance(search, after)
    oracle.advance(after.tolist())
    assert best_words(search) == [word for word, _ in oracle.best(False)[0].best] == [A]


def test_what_an_overflow_has_cost_is_back_one_frame_later(device: torch.device) -> None:
    ways = 110  # more than there is room for, to a node whose epsilon arc comes last
    arcs = [Arc(0, 2, 0, 1.0, 1) for _ in range(ways)]
    graph = compact_graph([*arcs, Arc(1, 0, 0, 0.5, 2), Arc(2, 3, A, 0.5, 3)], 3, ["a"])
    config = WfstSearchConfig(max_tokens=100, entry_capacity=100, candidate_capacity=100)
    search = WfstSearch(graph, config, 1, device)
    search.set_options(0, OPTIONS)
    advance(search, sure_of(1, 0, 0, 2).to(device))
    assert search.overflows() == 1
    assert best_words(search) == [A]


def assert_alternatives(
    graph: Graph,
    options: WfstOptions,
    frames: Tensor,
    words: list[tuple[int, ...]],
    device: torch.device,
) -> None:
    """Where an utterance may end these are the oracle's results, and the kernels'."""
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=100), 1, device)
    search.set_options(0, options)
    advance(search, frames.to(device))
    oracle = WfstOracle(graph, options)
    oracle.advance(frames.tolist())
    expected = [(nats(cost), said) for cost, said in oracle.nbest(finalize=True)]
    assert [said for _, said in expected] == words
    [listed] = search.nbest([0], 10)
    assert listed is not None
    assert [(one.cost, one.words) for one in listed] == expected


def test_a_dearer_way_to_where_a_token_stays_goes_on_over_epsilon_arcs(
    device: torch.device,
) -> None:
    """A stays in node 1, from which nothing is new; so does B, but it comes there just now."""
    graph = compact_graph(
        [
            Arc(0, 2, A, 1.0, 1),
            Arc(0, 3, B, 2.0, 2),
            Arc(2, 2, 0, 0.0, 1),
            Arc(1, 0, 0, 0.5, 3),
        ],
        3,
        ["a", "b"],
    )
    frames = torch.tensor([[-30.0, 0.0, -1.0], [-30.0, 0.0, -30.0]])
    assert_alternatives(graph, OPTIONS, frames, [(A,), (B,)], device)


def test_so_does_a_dearer_token_that_stays_where_its_epsilon_arcs_led_to_none(
    device: torch.device,
) -> None:
    """In frame 1 B waits in blank, and node 3 after B is one token too many.

    In frame 2 there is room for it; but A comes into the same blank, cheaper, with node 3 after it.
    """
    graph = compact_graph(
        [
            Arc(0, 2, B, 5.0, 1),
            Arc(0, 3, A, 1.0, 2),
            Arc(2, 2, 0, 0.0, 1),
            Arc(1, 0, 0, 0.5, 3),
        ],
        3,
        ["a", "b"],
    )
    options = WfstOptions(beam=10.0, max_active=4, lattice_beam=2.0)
    frames = torch.tensor([[-30.0, 0.0, 0.0], [0.0, -3.0, -30.0], [0.0, -30.0, -30.0]])
    assert_alternatives(graph, options, frames, [(A,), (B,)], device)
