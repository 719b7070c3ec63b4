"""WFST search: known answers, hostile input, words from outside, and room that runs out."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from emulator import BLOCK_THREADS, built
from torch import Tensor
from wfst_oracle import WfstOracle

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.errors import (
    CapacityExceeded,
    InvalidConfig,
    InvalidGraph,
    InvalidInput,
)
from earshot.decoder_kernels.graph.graph import Arc, ArcColumns, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, nats
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

VOCAB_SIZE = 5
AB, BA = 1, 2
SMALL = WfstSearchConfig(
    max_tokens=100, backpointer_capacity=1000, entry_capacity=1000, candidate_capacity=4000
)


def word_loop(topology: str = "compact") -> Graph:
    """LG of two words, token 1 then 2, and token 2 then 1, each at a cost of 1."""
    arcs = [
        Arc(0, 2, AB, 1.0, 1),
        Arc(1, 3, 0, 0.0, 0),
        Arc(0, 3, BA, 1.0, 2),
        Arc(2, 2, 0, 0.0, 0),
    ]
    return Graph.from_arcs(
        arcs,
        {0: 0.5},
        3,
        topology=topology,
        vocab_size=VOCAB_SIZE,
        word_texts=["<eps>", "ab", "ba"],
        loop_node=0,
        unknown_cost=3.0,
    )


def with_the_rule(graph: Graph) -> Graph:
    """T∘LG by brute force: nodes are (node, last label), and a label may be repeated."""
    size = graph.vocab_size
    arcs = []
    for node in range(graph.num_nodes):
        for last in range(size):
            here = node * size + last
            arcs.append(Arc(here, 1, 0, 0.0, node * size))
            if last:
                arcs.append(Arc(here, last + 1, 0, 0.0, here))
            for i in range(graph.first_arc[node], graph.first_arc[node + 1]):
                label, target = int(graph.labels[i]), int(graph.targets[i])
                if label == last + 1 and last and graph.topology == "normal":
                    continue
                end = target * size + (label - 1 if label else last)
                arcs.append(Arc(here, label, int(graph.words[i]), float(graph.weights[i]), end))
    finals = {
        node * size + last: float(graph.finals[node])
        for node in range(graph.num_nodes)
        if math.isfinite(graph.finals[node])
        for last in range(size)
    }
    return Graph.from_arcs(
        arcs,
        finals,
        graph.num_nodes * size,
        topology="explicit",
        vocab_size=size,
        word_texts=graph.word_texts,
    )


def spoken(*tokens: int) -> Tensor:
    """(1, T, V): one token is certain in each frame."""
    frames = torch.full((1, len(tokens), VOCAB_SIZE), -20.0)
    frames[0, torch.arange(len(tokens)), list(tokens)] = 0.0
    return frames


def noise(seed: int, *shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.log_softmax(2.0 * torch.randn(*shape, generator=generator), dim=-1)


def advance(search: WfstSearch, slots: list[int], frames: Tensor) -> None:
    lengths = torch.full((len(slots),), frames.shape[1])
    search.advance(torch.tensor(slots), frames.to(search.device), lengths)


def test_words_leave_with_their_frames_and_costs(device: torch.device) -> None:
    search = WfstSearch(word_loop(), SMALL, 2, device)
    advance(search, [1], spoken(0, 1, 1, 2, 0, 2, 1))
    [result] = search.best(torch.tensor([1]), finalize=True)
    assert result.hypothesis.words == (AB, BA)
    assert result.hypothesis.frames == (1, 5)
    assert result.hypothesis.cost == pytest.approx(2.5)
    assert result.hypothesis.reached_final
    [partial] = search.best(torch.tensor([1]))
    assert partial.hypothesis.cost == pytest.approx(2.0)
    assert search.best(torch.tensor([0]))[0].hypothesis.words == ()


@pytest.mark.parametrize("topology", ["compact", "normal"])
@pytest.mark.parametrize("seed", range(20))
def test_the_implicit_rule_equals_an_explicit_one(
    topology: str, seed: int, device: torch.device
) -> None:
    graph = word_loop(topology)
    found = []
    for each in (graph, with_the_rule(graph)):
        search = WfstSearch(each, SMALL, 1, device)
        advance(search, [0], noise(seed, 1, 12, VOCAB_SIZE))
        found.append([(one.cost, one.words) for one in search.nbest([0], 10)[0]])
    assert found[0] == found[1]
    assert len(found[0]) > 1


def test_normal_asks_for_a_blank_between_equal_labels_and_compact_does_not(
    device: torch.device,
) -> None:
    arcs = [Arc(0, 2, 1, 1.0, 1), Arc(1, 2, 0, 0.0, 2)]
    rest = {"vocab_size": VOCAB_SIZE, "word_texts": ["<eps>", "aa"]}
    for topology, tokens, reached in (
        ("compact", (1, 1), True),
        ("normal", (1, 1), False),
        ("normal", (1, 0, 1), True),
    ):
        graph = Graph.from_arcs(arcs, {2: 0.0}, 3, topology=topology, **rest)
        search = WfstSearch(graph, SMALL, 1, device)
        advance(search, [0], spoken(*tokens))
        [result] = search.best(torch.tensor([0]), finalize=True)
        assert result.hypothesis.reached_final == reached


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_a_lane_with_numbers_that_are_none_is_refused_alone(
    bad: float, device: torch.device
) -> None:
    search = WfstSearch(word_loop(), SMALL, 3, device)
    alone = WfstSearch(word_loop(), SMALL, 1, device)
    frames = noise(1, 1, 8, VOCAB_SIZE)
    advance(alone, [0], frames)
    batch = frames.repeat(3, 1, 1)
    batch[1, 7, 2] = bad
    with pytest.raises(InvalidInput) as refusal:
        advance(search, [0, 1, 2], batch)
    assert refusal.value.lanes == (1,)
    first, third = search.nbest([0, 2], 9)
    assert [first] == [third] == alone.nbest([0], 9)
    assert search.best(torch.tensor([1]))[0].hypothesis.cost == 0.0


def test_a_frame_without_a_finite_number_is_refused(device: torch.device) -> None:
    search = WfstSearch(word_loop(), SMALL, 1, device)
    with pytest.raises(InvalidInput, match="without any finite"):
        advance(search, [0], torch.full((1, 3, VOCAB_SIZE), -torch.inf))


@pytest.mark.parametrize("scale", [1e-30, 1e30, 3e38])
def test_numbers_that_are_no_probabilities_are_searched(scale: float, device: torch.device) -> None:
    search = WfstSearch(word_loop(), SMALL, 1, device)
    search.set_options(0, WfstOptions(beam=1e9, max_active=100, lattice_beam=1e9))
    advance(search, [0], noise(2, 1, 30, VOCAB_SIZE).clamp(min=-1.0) * scale)
    assert math.isfinite(search.best(torch.tensor([0]))[0].hypothesis.cost)


def test_a_frame_that_no_path_survives_is_left_out_and_counted(device: torch.device) -> None:
    search = WfstSearch(word_loop(), SMALL, 2, device)
    frames = spoken(1, 2, 0)
    frames[0, 1] = -torch.inf
    frames[0, 1, 4] = 0.0  # no word has it
    advance(search, [0], frames)
    assert search.dead_ends() == 1
    assert search.overflows_and_dead_ends(torch.tensor([0, 1])) == [(0, 1), (0, 0)]
    assert search.best(torch.tensor([0]))[0].hypothesis.words == (AB,)


@pytest.mark.parametrize(
    "changes",
    [
        {"beam": math.nan},
        {"beam": 0.0},
        {"beam": math.inf},
        {"lattice_beam": -1.0},
        {"max_active": 0},
        {"acoustic_scale": math.nan},
        {"graph_scale": -1.0},
        {"blank_skip": 0.0},
    ],
)
def test_options_that_make_no_search_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(InvalidConfig):
        replace(WfstOptions(), **changes)  # type: ignore[arg-type]


def test_sizes_that_make_no_search_are_refused(device: torch.device) -> None:
    for changes in ({"workers": 0}, {"entry_capacity": 99}, {"block_threads": 257}):
        with pytest.raises(InvalidConfig):
            replace(SMALL, **changes)
    with pytest.raises(InvalidConfig, match="max_tokens"):
        WfstSearch(word_loop(), SMALL, 1, device).set_options(0, WfstOptions(max_active=101))


@pytest.mark.no_launch
def test_epsilons_in_a_circle_are_refused(device: torch.device) -> None:
    arcs = [Arc(0, 0, 0, 0.0, 1), Arc(1, 0, 0, 0.0, 0)]
    graph = Graph.from_arcs(
        arcs, {0: 0.0}, 2, topology="compact", vocab_size=3, word_texts=["<eps>"]
    )
    with pytest.raises(InvalidGraph, match="cycle"):
        WfstSearch(graph, SMALL, 1, device)


def test_a_spelled_word_is_found_where_the_graph_has_none(device: torch.device) -> None:
    graph = word_loop()
    search = WfstSearch(graph, SMALL, 1, device)
    table = WordBoostTable.compile([WordPhrase(((3, 4),), 1.5)], graph)
    search.set_boost(0, table)
    advance(search, [0], spoken(1, 2, 0, 3, 3, 4, 0, 2, 1))
    [result] = search.best(torch.tensor([0]), finalize=True)
    outside = len(graph.word_texts)
    assert result.hypothesis.words == (AB, outside, BA)
    assert result.hypothesis.boost == pytest.approx(1.5)
    assert result.hypothesis.cost == pytest.approx(2.0 + 3.0 - 1.5 + 0.5)
    search.set_boost(0, None)
    assert search.best(torch.tensor([0]), finalize=True)[0].hypothesis == result.hypothesis


@pytest.mark.no_launch
def test_oov_words_that_cannot_be_added_are_named(device: torch.device) -> None:
    for graph in (with_the_rule(word_loop()), replace(word_loop(), loop_node=-1)):
        phrase = WordPhrase(((3, 4), AB), 1.0)
        table = WordBoostTable.compile([phrase, WordPhrase((AB,), 1.0)], graph)
        [(refused, _)] = table.refused
        assert refused == phrase
        assert table.spellings == ()


def test_a_bonus_is_at_most_three_quarters_of_the_beam() -> None:
    table = WordBoostTable.compile([WordPhrase((AB,), 1e6)], word_loop(), beam=0.4)
    assert float(table.automaton.bonuses.max()) == pytest.approx(0.3)


def test_tables_that_do_not_fit_are_refused(device: torch.device) -> None:
    graph = word_loop()
    table = WordBoostTable.compile([WordPhrase(((3, 4, 3, 4),), 1.0)], graph)
    for sizes in ({"oov_capacity": 3}, {"boost_capacity": 1}):
        search = WfstSearch(graph, replace(SMALL, **sizes), 1, device)
        with pytest.raises(CapacityExceeded):
            search.set_boost(0, table)
        advance(search, [0], spoken(1, 2))
        assert search.best(torch.tensor([0]))[0].hypothesis.words == (AB,)


@pytest.mark.parametrize("sizes", [{"backpointer_capacity": 8}, {"candidate_capacity": 100}])
def test_room_that_runs_out_is_counted_and_the_result_stays_one(
    sizes: dict[str, int], device: torch.device
) -> None:
    search = WfstSearch(word_loop(), replace(SMALL, **sizes), 1, device)
    search.set_options(0, WfstOptions(beam=1e3, max_active=100, lattice_beam=50.0))
    for chunk in noise(3, 1, 200, VOCAB_SIZE).split(8, dim=1):
        advance(search, [0], chunk)
    [result] = search.best(torch.tensor([0]))
    assert list(result.hypothesis.frames) == sorted(result.hypothesis.frames)
    assert set(result.hypothesis.words) <= {AB, BA}
    overflows = search.overflows()
    assert overflows > 0
    slot = torch.tensor([0])
    assert search.overflows_and_dead_ends(slot) == [(overflows, 0)]
    search.reset(slot)
    assert (search.overflows(), search.overflows_and_dead_ends(slot)) == (overflows, [(0, 0)])


def test_records_of_the_past_are_collected(device: torch.device) -> None:
    """A result that has become certain needs its words, and no more."""
    search = WfstSearch(word_loop(), SMALL, 1, device)
    for _ in range(100):
        advance(search, [0], spoken(0, 1, 2, 0))
    [result] = search.best(torch.tensor([0]))
    assert result.hypothesis.words == (AB,) * 100
    assert result.stable_length >= 99
    assert search.overflows() == 0


def test_a_list_is_found_where_everything_costs_the_same(device: torch.device) -> None:
    search = WfstSearch(word_loop(), SMALL, 1, device)
    search.set_options(0, WfstOptions(max_active=100, acoustic_scale=0.0, graph_scale=0.0))
    advance(search, [0], noise(4, 1, 60, VOCAB_SIZE))
    [listed] = search.nbest([0], 5)
    assert listed is not None
    assert len({one.words for one in listed}) == 5
    assert {one.cost for one in listed} == {0.0}


ONE_SIZE_OF_BLOCK = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.gpu),
    *(pytest.param(n, marks=pytest.mark.emulated) for n in BLOCK_THREADS[:1] if built()),
]
"""A frame of two billion ways takes an emulated block ten seconds and more."""


@pytest.mark.parametrize("device", ONE_SIZE_OF_BLOCK, indirect=True)
def test_ways_beyond_what_an_int_can_count_are_an_overflow(device: torch.device) -> None:
    labels, arcs_each, tokens = 16_382, 9, 16_000
    arcs = labels * arcs_each
    assert arcs * tokens > 2**31
    none = np.zeros(arcs, int)
    columns = ArcColumns(
        none, np.repeat(np.arange(2, labels + 2), arcs_each), none, np.zeros(arcs), none
    )
    graph = Graph.from_columns(
        columns,
        np.zeros(1, np.float32),
        topology="compact",
        vocab_size=labels + 1,
        word_texts=["<eps>"],
    )
    sizes = WfstSearchConfig(
        max_tokens=tokens,
        backpointer_capacity=65_536,
        entry_capacity=65_536,
        candidate_capacity=262_144,
    )
    search = WfstSearch(graph, sizes, 1, device)
    search.set_options(0, WfstOptions(beam=1e9, lattice_beam=1e9, max_active=tokens))
    search.advance(
        torch.tensor([0]), torch.zeros(1, 2, labels + 1, device=device), torch.tensor([2])
    )
    assert search.overflows() == 2


@pytest.mark.parametrize(("weight", "scale"), [(20_000.0, 1.0), (1_500.0, 10.0), (150.0, 100.0)])
def test_a_clamped_cost_is_not_pruned_for_what_it_would_have_been(
    weight: float, scale: float, device: torch.device
) -> None:
    arcs = [Arc(0, 2, AB, weight, 1), Arc(1, 0, 0, -0.8 * weight, 2)]
    graph = Graph.from_arcs(
        arcs, {2: 0.0}, 3, topology="compact", vocab_size=VOCAB_SIZE, word_texts=["<eps>", "ab"]
    )
    options = WfstOptions(max_active=100, graph_scale=scale)
    frames = torch.full((2, VOCAB_SIZE), -1.0)
    search, oracle = WfstSearch(graph, SMALL, 1, device), WfstOracle(graph, options, None)
    search.set_options(0, options)
    search.advance(torch.tensor([0]), frames[None].to(device), torch.tensor([2]))
    oracle.advance(frames.tolist())
    token, cost = oracle.best(finalize=True)
    [found] = search.best(torch.tensor([0]), finalize=True)
    assert (found.hypothesis.words, found.hypothesis.cost) == ((AB,), nats(cost))
    assert [word for word, _ in token.best] == [AB]
