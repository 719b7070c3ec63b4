"""Boosted phrases of words: their limits."""

import math

import numpy as np
import pytest
import torch
from boost_walk import BoostWalk

from earshot.decoder_kernels.boosting import word_boost
from earshot.decoder_kernels.boosting.boost import TOKEN_LIMIT
from earshot.decoder_kernels.boosting.word_boost import (
    BEAM_SHARE,
    COST_SHARE,
    OOV_COST_SHARE,
    WordBoostTable,
    WordPhrase,
)
from earshot.decoder_kernels.errors import BoostTableError
from earshot.decoder_kernels.graph.graph import Arc, Graph, Topology
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.graph.word_costs import Costs
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

DEAR, CHEAP, FREE = 1, 2, 3
OUTSIDE = (3, 2)
NO_COSTS = np.full(4, math.inf)


def one_node(arcs: list[Arc], topology: Topology, loop_node: int) -> Graph:
    return Graph.from_arcs(
        arcs,
        {0: 0.0},
        1,
        topology=topology,
        vocab_size=4,
        word_texts=["<eps>", "dear", "cheap", "free"],
        loop_node=loop_node,
        unknown_cost=6.0,
    )


def words_in_any_order(loop_node: int = 0) -> Graph:
    """Of one token each, at costs of 4, 1 and -1."""
    arcs = [Arc(0, 2, DEAR, 4.0, 0), Arc(0, 3, CHEAP, 1.0, 0), Arc(0, 4, FREE, -1.0, 0)]
    return one_node(arcs, "compact", loop_node)


def imported() -> Graph:
    """Two of the words, with the CTC rule in the arcs and no loop node named."""
    arcs = [Arc(0, 1, 0, 0.0, 0), Arc(0, 2, DEAR, 4.0, 0), Arc(0, 3, CHEAP, 1.0, 0)]
    return one_node(arcs, "explicit", -1)


def earned(words: tuple[int | tuple[int, ...], ...], weight: float, scale: float = 1.0) -> float:
    """What the phrase earns by the table, per word."""
    table = WordBoostTable.compile(
        [WordPhrase(words, weight)], words_in_any_order(), beam=10.0, graph_scale=scale
    )
    return float(table.automaton.bonuses[1, -1]) / len(words)


@pytest.mark.parametrize("limit", ["MAX_OOV_NODES", "MAX_CONTEXTS"])
def test_a_table_that_the_keys_cannot_hold_is_refused(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Graph.from_arcs(
        [], {}, 1, topology="compact", vocab_size=4, word_texts=["<eps>"], loop_node=0
    )
    phrases = [WordPhrase(((1, 2), (1, 3)), 1.0)]
    monkeypatch.setattr(word_boost, limit, 3)
    assert WordBoostTable.compile(phrases, graph).num_oov_nodes == 2
    monkeypatch.setattr(word_boost, limit, 1)
    with pytest.raises(BoostTableError, match="at most 1"):
        WordBoostTable.compile(phrases, graph)


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ((DEAR,), COST_SHARE * 4.0),
        ((CHEAP,), COST_SHARE),
        ((DEAR, CHEAP), COST_SHARE * 2.5),
        ((OUTSIDE,), OOV_COST_SHARE * 6.0),
        ((FREE,), 0.0),
    ],
)
def test_a_phrase_earns_no_more_than_a_share_of_what_its_words_cost(
    words: tuple[int | tuple[int, ...], ...], most: float
) -> None:
    assert earned(words, 1e3) == pytest.approx(most)
    assert earned(words, 1e3, scale=0.5) == pytest.approx(most / 2)


@pytest.mark.parametrize("weight", [-4.0, -0.1, 0.0, 0.5])
def test_weights_within_the_limits_are_left_alone(weight: float) -> None:
    assert earned((CHEAP,), weight) == pytest.approx(weight)


def test_phrases_that_earn_nothing_are_named() -> None:
    phrases = [WordPhrase((word,), weight) for word, weight in ((FREE, 3.0), (CHEAP, 3.0))]
    phrases += [WordPhrase((DEAR,), 0.0), WordPhrase((FREE, FREE), -1.0)]
    graph = words_in_any_order()
    assert WordBoostTable.compile(phrases, graph).fruitless == (phrases[0],)
    assert WordBoostTable.compile(phrases, graph, graph_scale=0.0).fruitless == tuple(phrases[:2])


def test_negative_weights_are_limited_by_the_beam_alone() -> None:
    assert earned((CHEAP,), -1e3) == -10.0 * BEAM_SHARE


def test_an_oov_word_is_not_added_to_be_disfavoured() -> None:
    phrase = WordPhrase((DEAR, OUTSIDE), -3.0)
    table = WordBoostTable.compile([phrase], words_in_any_order())
    [(refused, reason)] = table.refused
    assert refused == phrase
    assert reason == "a word that the graph does not have cannot be disfavoured"
    assert not table.oov_arcs


def test_a_word_from_outside_may_come_without_a_bonus() -> None:
    assert WordBoostTable.compile([WordPhrase((OUTSIDE,), 0.0)], words_in_any_order()).oov_arcs


def test_a_graph_that_names_no_loop_node_has_the_same_limits() -> None:
    for scale, limit in ((0.0, 0.0), (1.0, COST_SHARE)):
        table = WordBoostTable.compile(
            [WordPhrase((CHEAP,), 1e3)], words_in_any_order(-1), beam=10.0, graph_scale=scale
        )
        assert float(table.automaton.bonuses.max()) == limit


def test_a_word_earns_no_more_than_its_tokens_may() -> None:
    """After itself it may cost nothing, whatever it costs without a history."""
    phrases = [WordPhrase((DEAR,), 1e3), WordPhrase((OUTSIDE,), 1e3)]
    table = WordBoostTable.compile(
        phrases, words_in_any_order(), beam=100.0, graph_scale=10.0, num_tokens=lambda word: word
    )
    assert table.automaton.bonuses[1, 1:].tolist() == [TOKEN_LIMIT, TOKEN_LIMIT * len(OUTSIDE)]


def test_words_that_end_phrases_earn_a_share_of_the_beam_for_all_of_them_together() -> None:
    phrases = [WordPhrase(words, 1e3) for words in ((DEAR,), (CHEAP, DEAR), (DEAR, CHEAP, DEAR))]
    table = WordBoostTable.compile(phrases, words_in_any_order(), beam=2.0, graph_scale=1.0)
    automaton = BoostWalk(table.automaton)
    state = 0
    for word in (DEAR, CHEAP, DEAR):
        pending = automaton.pending(state)
        state = automaton.step(state, word)
        assert (
            automaton.pending(state) + automaton.completed(state) - pending
            <= 2.0 * BEAM_SHARE + 1e-6
        )


def test_words_that_nobody_can_say_are_limited_by_the_beam_alone() -> None:
    table = WordBoostTable.compile(
        [WordPhrase((CHEAP,), 1e3)],
        words_in_any_order(),
        beam=10.0,
        graph_scale=0.0,
        costs=NO_COSTS,
    )
    assert float(table.automaton.bonuses.max()) == 10.0 * BEAM_SHARE


SINGLE = ((DEAR,), (CHEAP,))
OVERLAPPING = (*SINGLE, (DEAR, CHEAP), (CHEAP, DEAR), (DEAR, CHEAP, DEAR))


def heard(
    phrases: tuple[tuple[int, ...], ...],
    costs: Costs | None,
    device: torch.device,
    topology: Topology = "compact",
) -> tuple[int, ...]:
    """What is found in eight frames of two tokens by turns, with a huge boost on these phrases."""
    graph = words_in_any_order() if topology == "compact" else imported()
    sizes = WfstSearchConfig(
        max_tokens=100, backpointer_capacity=1000, entry_capacity=1000, candidate_capacity=4000
    )
    search = WfstSearch(graph, sizes, 1, device)
    search.set_options(0, WfstOptions(beam=10.0, max_active=100, graph_scale=0.5))
    table = WordBoostTable.compile(
        [WordPhrase(words, 1e3) for words in phrases],
        graph,
        beam=10.0,
        graph_scale=0.5,
        costs=costs,
    )
    search.set_boost(0, table)
    log_probs = torch.full((1, 8, graph.vocab_size), -6.0, device=device)
    log_probs[0, :, 0] = 0.0
    log_probs[0, ::2, DEAR] = log_probs[0, 1::2, CHEAP] = 0.0
    search.advance(torch.tensor([0]), log_probs, torch.tensor([8]))
    return search.best(torch.tensor([0]), finalize=True)[0].hypothesis.words


@pytest.mark.parametrize("phrases", [SINGLE, OVERLAPPING])
def test_no_weight_makes_words_pay_for_being_repeated(
    phrases: tuple[tuple[int, ...], ...], device: torch.device
) -> None:
    assert heard(phrases, NO_COSTS, device) == (DEAR, CHEAP) * 4
    assert heard(phrases, None, device) == ()


def test_an_imported_graph_repeats_no_word_either(device: torch.device) -> None:
    assert heard(OVERLAPPING, NO_COSTS, device, "explicit") == (DEAR, CHEAP) * 4
    assert heard(OVERLAPPING, None, device, "explicit") == ()
