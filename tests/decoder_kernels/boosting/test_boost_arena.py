"""The arena of boost tables: room is taken, given back, joined and never exceeded."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.boosting.boost_arena import BoostArena
from earshot.decoder_kernels.errors import CapacityExceeded

CPU = torch.device("cpu")


def table_of(states: int) -> BoostTable:
    """A table of so many states: one phrase, and the root."""
    phrases = [BoostPhrase(tuple([1] * (states - 1)), 1.0)] if states > 1 else []
    table = BoostTable.compile(phrases, vocab_size=2)
    assert table.num_states == states
    return table


def test_a_table_lies_where_its_row_says() -> None:
    arena = BoostArena(10, num_slots=3, device=CPU)
    arena.place(0, table_of(4))
    arena.place(2, table_of(3))
    assert arena.rows.tolist() == [0, -1, 4]
    assert arena.links[:, 4:7].equal(table_of(3).links)
    assert arena.bonuses[:, 4:7].equal(table_of(3).bonuses)


def test_a_full_arena_says_so_and_others_keep_their_tables() -> None:
    arena = BoostArena(10, num_slots=3, device=CPU)
    arena.place(0, table_of(6))
    with pytest.raises(CapacityExceeded, match="4 of 10"):
        arena.place(1, table_of(5))
    assert arena.rows.tolist() == [0, -1, -1]
    arena.place(1, table_of(4))


def test_a_table_takes_the_place_of_the_one_before() -> None:
    arena = BoostArena(10, num_slots=2, device=CPU)
    arena.place(0, table_of(8))
    arena.place(0, table_of(10))
    with pytest.raises(CapacityExceeded, match="0 of 10 are free"):
        arena.place(1, table_of(1))


def test_freed_neighbours_join() -> None:
    arena = BoostArena(9, num_slots=3, device=CPU)
    for slot in range(3):
        arena.place(slot, table_of(3))
    for slot in (0, 2, 1):
        arena.remove(slot)
    arena.place(1, table_of(9))
    assert arena.rows.tolist() == [-1, 0, -1]


def test_freeing_nothing_is_nothing() -> None:
    arena = BoostArena(4, num_slots=1, device=CPU)
    arena.remove(0)
    arena.place(0, table_of(4))
    assert arena.rows.tolist() == [0]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=40))
def test_tables_never_overlap(steps: list[tuple[int, int]]) -> None:
    arena = BoostArena(24, num_slots=5, device=CPU)
    held: dict[int, int] = {}
    for slot, states in steps:
        held.pop(slot, None)
        if states == 0:
            arena.remove(slot)
            continue
        try:
            arena.place(slot, table_of(states))
        except CapacityExceeded:
            continue
        held[slot] = states
    rows = arena.rows.tolist()
    spans = [set(range(rows[slot], rows[slot] + states)) for slot, states in held.items()]
    assert sum(map(len, spans)) == len(set().union(*spans)) <= 24
    assert all(rows[slot] == -1 for slot in range(5) if slot not in held)
    for slot in held:
        arena.remove(slot)
    arena.place(0, table_of(24))  # no row is lost
