"""An image's n-grams as arrays, read from its lines (`decoder_kernels/csrc/lm/lm_layout.h`)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.lm.lm_header import LmHeader
from earshot.decoder_kernels.lm.lm_image import LmImage

WORDS_TOGETHER, ROWS_TOGETHER, STATES_TOGETHER = 28, 12, 8
BASE_SHIFT = 16
MANY = 15
"""Children of a state that are counted by a row before them."""

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Lines = npt.NDArray[np.void]
WORD_LINE = np.dtype([("before", "<u4"), ("bits", "<u4"), ("costs", "<u2", WORDS_TOGETHER)])
ROW_LINE = np.dtype([("ranked", "<u4"), ("rows", "u1", (ROWS_TOGETHER, 5))])
STATE_LINE = np.dtype([
    ("first_row", "<u4"), ("sizes", "<u4"), ("suffixes", "<u4", STATES_TOGETHER),
    ("back_offs", "<i2", STATES_TOGETHER), ("masks", "u1", STATES_TOGETHER),
])  # fmt: skip


@dataclass(frozen=True)
class Level:
    """The n-grams of one order.

    words, costs, is_state (R,): a row each; is_tally (R,): rows that count others.
    row_starts, state_starts (V + 1,): where rows and states begin that have a first word, counted
    from the level's first. first_row, first_state: those, in the image.
    """

    words: npt.NDArray[np.uint32]
    costs: npt.NDArray[np.uint16]
    is_state: Flags
    is_tally: Flags
    row_starts: Ints
    state_starts: Ints
    first_row: int
    first_state: int


@dataclass(frozen=True)
class Trie:
    """An image's n-grams.

    word_costs, word_is_state (V,). levels: that of single words, which has no rows, first.
    suffixes, back_offs, sizes, begins (S,): of each state, `begins` with the tally, if it has one.
    first_words (S,): of each state, 0 of the empty one.
    """

    word_costs: npt.NDArray[np.uint16]
    word_is_state: Flags
    levels: tuple[Level, ...]
    suffixes: Ints
    back_offs: npt.NDArray[np.int16]
    sizes: npt.NDArray[np.uint8]
    begins: Ints
    first_words: Ints

    @classmethod
    def read(cls, image: LmImage) -> "Trie":
        """All of an image."""
        header, parts = image.header, parts_of(np.frombuffer(image.content, np.uint8), image.header)
        words, states = parts["words"].view(WORD_LINE), parts["states"].view(STATE_LINE)
        rows = parts["rows"].view(ROW_LINE)
        begins, counts = _children(states, rows, parts["row_bases"].view("<u8"), header.states)
        word_is_state = _bits(words["bits"], WORDS_TOGETHER)[: header.words]
        first_words = np.zeros(header.states, np.int64)
        levels = tuple(_levels(rows, header, word_is_state, begins, counts, first_words))
        return cls(
            words["costs"].reshape(-1)[: header.words],
            word_is_state,
            levels,
            states["suffixes"].reshape(-1)[: header.states].astype(np.int64),
            states["back_offs"].reshape(-1)[: header.states],
            _sizes(states)[: header.states],
            begins,
            first_words,
        )


def parts_of(content: Bytes, header: LmHeader) -> dict[str, Bytes]:
    """The bytes of each part of an image."""
    return {name: content[at.start : at.stop] for name, at in header.parts.items()}


def lines_of(whole: int, together: int) -> int:
    """How many lines hold so many."""
    return -(-whole // together)


def mask_of(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """A word's bit in the masks of states (`lm_mask`)."""
    return (1 << (words * np.uint32(0x9E3779B1) >> np.uint32(29))).astype(np.uint8)


def starts_of(firsts: Ints, num_words: int) -> Ints:
    """Where the items (I,) of each first word begin, (V + 1,), the items being in their order."""
    return np.concatenate([[0], np.cumsum(np.bincount(firsts, minlength=num_words))])


def _sizes(states: Lines) -> npt.NDArray[np.uint8]:
    shifts = 4 * np.arange(STATES_TOGETHER, dtype=np.uint32)
    return (states["sizes"][:, None] >> shifts & MANY).astype(np.uint8).reshape(-1)


def _bits(lines: npt.NDArray[np.uint32], together: int) -> Flags:
    bits: Flags = (lines[:, None] >> np.arange(together, dtype=np.uint32) & 1).astype(bool)
    return bits.reshape(-1)


def _children(
    states: Lines, lines: Lines, row_bases: npt.NDArray[np.uint64], count: int
) -> tuple[Ints, Ints]:
    """Where the children of each state begin, with their tally, and how many rows they take."""
    rows, sizes = lines["rows"].reshape(-1, 5), _sizes(states).reshape(-1, STATES_TOGETHER)
    begins, counts = np.empty(sizes.shape, np.int64), np.empty(sizes.shape, np.int64)
    bases = row_bases.astype(np.int64)[np.arange(len(states)) >> BASE_SHIFT]
    begin = bases + states["first_row"]
    for place in range(STATES_TOGETHER):
        begins[:, place] = begin
        taken = sizes[:, place].astype(np.int64)
        many = np.flatnonzero(taken == MANY)
        tallies = rows[begin[many]].astype(np.int64)
        taken[many] = 1 + tallies @ (1 << 8 * np.arange(5))
        counts[:, place] = taken
        begin = begin + taken
    return begins.reshape(-1)[:count], counts.reshape(-1)[:count]


def _levels(
    lines: Lines,
    header: LmHeader,
    word_is_state: Flags,
    begins: Ints,
    counts: Ints,
    first_words: Ints,
) -> Iterator[Level]:
    """One level after the other; `first_words` of states are filled in."""
    rows = lines["rows"].reshape(-1, 5)
    bits = _bits(lines["ranked"] & ((1 << ROWS_TOGETHER) - 1), ROWS_TOGETHER)
    is_tally = np.zeros(len(rows), bool)
    is_tally[begins[counts > MANY]] = True
    none = np.zeros(0, np.uint32)
    firsts, first_row, state = np.flatnonzero(word_is_state), 0, 1
    no_rows = np.zeros(header.words + 1, np.int64)
    starts = starts_of(firsts, header.words)
    no_bits = none.astype(bool)
    yield Level(none, none.astype(np.uint16), no_bits, no_bits, no_rows, starts, 0, 1)
    for _ in range(1, header.order):
        own = slice(state, state + len(firsts))
        first_words[own] = firsts
        state += len(firsts)
        row_firsts = np.repeat(firsts, counts[own])
        there = slice(first_row, first_row + len(row_firsts))
        firsts = row_firsts[bits[there]]
        yield Level(
            rows[there, :3].astype(np.uint32) @ np.array([1, 1 << 8, 1 << 16], np.uint32),
            rows[there, 3].astype(np.uint16) | rows[there, 4].astype(np.uint16) << np.uint16(8),
            bits[there],
            is_tally[there],
            starts_of(row_firsts, header.words),
            starts_of(firsts, header.words),
            first_row,
            state,
        )
        first_row += len(row_firsts)
