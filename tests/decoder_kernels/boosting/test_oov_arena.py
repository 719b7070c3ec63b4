"""The arena of OOV words: where they lie, and that room is given back."""

import numpy as np
import pytest
import torch

from earshot.decoder_kernels.boosting.oov_arena import OovArena
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.errors import CapacityExceeded
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_key import LABEL_BITS

A = 1
UNKNOWN_COST = 2.5
WORD = 1 << LABEL_BITS
"""A bit beside the label of an arc with a word."""


def loop_graph() -> Graph:
    """One word, said from the loop node 0 and back."""
    return Graph.from_arcs(
        [Arc(0, 2, A, 1.0, 1), Arc(1, 0, 0, 0.0, 0)],
        {0: 0.0},
        2,
        topology="compact",
        vocab_size=5,
        word_texts=["<eps>", "a"],
        loop_node=0,
        unknown_cost=UNKNOWN_COST,
    )


def table_of(*spellings: tuple[int, ...]) -> WordBoostTable:
    return WordBoostTable.compile([WordPhrase((each,), 1.0) for each in spellings], loop_graph())


def arena_of(capacity: int, num_slots: int = 3) -> OovArena:
    graph = loop_graph()
    kinds = np.zeros(graph.num_nodes, np.int32)
    return OovArena(graph, kinds, capacity, num_slots, torch.device("cpu"))


def test_a_spelling_leaves_the_graph_and_comes_back_to_its_loop() -> None:
    arena = arena_of(8)
    arena.place(1, table_of((1, 3)))
    assert arena.rows.tolist() == [[-1, -1], [0, 0], [-1, -1]]
    first, second = arena.arcs[:2].tolist()
    assert (arena.labels[:2].tolist(), [first[2], second[2]]) == ([2, 4 | WORD], [0, 2])
    assert [first[1], second[1]] == [loop_graph().num_nodes + 1, 0]
    costs = arena.arcs[:2, 0].contiguous().view(torch.float32).tolist()
    assert costs == [(UNKNOWN_COST - 1.0) / 2, UNKNOWN_COST - (UNKNOWN_COST - 1.0) / 2]


def test_words_that_begin_alike_share_their_beginning() -> None:
    arena = arena_of(8)
    arena.place(0, table_of((1, 3), (1, 2)))
    assert arena.nodes[:3, :2].tolist() == [[0, 0], [1, 1], [3, 3]]
    assert arena.labels[:3].tolist() == [2, 3 | WORD, 4 | WORD]


def test_a_table_without_such_words_takes_no_room() -> None:
    arena = arena_of(0)
    arena.place(0, WordBoostTable.compile([WordPhrase((A,), 1.0)], loop_graph()))
    assert arena.rows[0].tolist() == [-1, -1]


def test_a_full_arena_names_what_is_free_and_others_keep_their_words() -> None:
    arena = arena_of(6)
    arena.place(0, table_of((1, 2, 3)))
    with pytest.raises(CapacityExceeded, match=r"1 words with 4 tokens .*2 of 6 are free"):
        arena.place(1, table_of((1, 2, 3)))
    assert arena.rows.tolist() == [[0, 0], [-1, -1], [-1, -1]]


def test_room_is_given_back_once() -> None:
    arena = arena_of(4)
    arena.place(0, table_of((1, 2, 3)))
    arena.remove(0)
    arena.remove(0)
    arena.place(2, table_of((3, 2, 1)))
    assert arena.rows.tolist() == [[-1, -1], [-1, -1], [0, 0]]


def test_words_take_the_place_of_those_before() -> None:
    arena = arena_of(4)
    arena.place(0, table_of((1, 2, 3)))
    arena.place(0, table_of((4, 4, 4)))
    assert arena.labels[:3].tolist() == [5, 5, 5 | WORD]
