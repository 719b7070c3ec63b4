"""An image's n-grams as arrays, read from its lines (`decoder_kernels/csrc/lm/lm_layout.h`)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.lm.lm_header import ALIGNMENT, HEADER_BYTES, LmHeader
from earshot.decoder_kernels.lm.lm_image import LmImage

WORDS_TOGETHER, ROWS_TOGETHER, STATES_TOGETHER = 28, 12, 8
LINE_BYTES = 64
BASE_SHIFT = 16
MANY = 15
"""Children of a state that are counted by a row before them."""

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
WORD_LINE = np.dtype([("before", "<u4"), ("bits", "<u4"), ("costs", "<u2", WORDS_TOGETHER)])
ROW_LINE = np.dtype([("ranked", "<u4"), ("rows", "u1", (ROWS_TOGETHER, 5))])
STATE_LINE = np.dtype([
    ("first_row", "<u4"), ("sizes", "<u4"), ("suffixes", "<u4", STATES_TOGETHER),
    ("back_offs", "<i2", STATES_TOGETHER), ("masks", "u1", STATES_TOGETHER),
])  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """Where an image's parts begin, in bytes (`LmParts`)."""

    ends: int
    text: int
    by_text: int
    words: int
    rows: int
    states: int
    state_bases: int
    row_bases: int
    end: int

    @classmethod
    def of(cls, header: LmHeader) -> "Parts":
        """Those that a header's counts give."""
        row_lines = lines_of(sum(header.rows) + header.tallies, ROWS_TOGETHER)
        state_lines = lines_of(header.states, STATES_TOGETHER)
        at, begins = HEADER_BYTES, []
        for size in (
            8 * header.words,
            header.text_bytes,
            4 * header.words,
            LINE_BYTES * lines_of(header.words, WORDS_TOGETHER),
            LINE_BYTES * row_lines,
            LINE_BYTES * state_lines,
            4 * lines_of(row_lines, 1 << BASE_SHIFT),
            8 * lines_of(state_lines, 1 << BASE_SHIFT),
        ):
            begins.append(at + -at % ALIGNMENT)
            at = begins[-1] + size
        return cls(*begins, at)


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
        content, header = np.frombuffer(image.content, np.uint8), image.header
        at = Parts.of(header)
        words = content[at.words : at.rows].view(WORD_LINE)
        states = _states(content[at.states :], header.states)
        begins, counts = _children(content, at, states, header)
        word_is_state = _bits(words["bits"], WORDS_TOGETHER)[: header.words]
        first_words = np.zeros(header.states, np.int64)
        levels = tuple(_levels(content, header, word_is_state, begins, counts, first_words))
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


def lines_of(whole: int, together: int) -> int:
    """How many lines hold so many."""
    return -(-whole // together)


def mask_of(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """A word's bit in the masks of states (`lm_mask`)."""
    return (1 << (words * np.uint32(0x9E3779B1) >> np.uint32(29))).astype(np.uint8)


def starts_of(firsts: Ints, num_words: int) -> Ints:
    """Where the items (I,) of each first word begin, (V + 1,), the items being in their order."""
    return np.concatenate([[0], np.cumsum(np.bincount(firsts, minlength=num_words))])


def _states(content: npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.void]:
    lines = lines_of(count, STATES_TOGETHER)
    return content[: LINE_BYTES * lines].view(STATE_LINE)


def _sizes(states: npt.NDArray[np.void]) -> npt.NDArray[np.uint8]:
    shifts = 4 * np.arange(STATES_TOGETHER, dtype=np.uint32)
    return (states["sizes"][:, None] >> shifts & MANY).astype(np.uint8).reshape(-1)


def _bits(lines: npt.NDArray[np.uint32], together: int) -> Flags:
    bits: Flags = (lines[:, None] >> np.arange(together, dtype=np.uint32) & 1).astype(bool)
    return bits.reshape(-1)


def _row_lines(content: npt.NDArray[np.uint8], header: LmHeader) -> npt.NDArray[np.void]:
    at = Parts.of(header)
    count = lines_of(sum(header.rows) + header.tallies, ROWS_TOGETHER)
    return content[at.rows : at.rows + LINE_BYTES * count].view(ROW_LINE)


def _children(
    content: npt.NDArray[np.uint8], at: Parts, states: npt.NDArray[np.void], header: LmHeader
) -> tuple[Ints, Ints]:
    """Where the children of each state begin, with their tally, and how many rows they take."""
    bases = content[at.row_bases : at.end].view("<u8").astype(np.int64)
    rows = _row_lines(content, header)["rows"].reshape(-1, 5)
    sizes = _sizes(states).reshape(-1, STATES_TOGETHER)
    begins, counts = np.empty(sizes.shape, np.int64), np.empty(sizes.shape, np.int64)
    begin = bases[np.arange(len(states)) >> BASE_SHIFT] + states["first_row"]
    for place in range(STATES_TOGETHER):
        begins[:, place] = begin
        count = sizes[:, place].astype(np.int64)
        many = np.flatnonzero(count == MANY)
        tallies = rows[begin[many]].astype(np.int64)
        count[many] = 1 + tallies @ (1 << 8 * np.arange(5))
        counts[:, place] = count
        begin = begin + count
    return begins.reshape(-1)[: header.states], counts.reshape(-1)[: header.states]


def _levels(
    content: npt.NDArray[np.uint8],
    header: LmHeader,
    word_is_state: Flags,
    begins: Ints,
    counts: Ints,
    first_words: Ints,
) -> Iterator[Level]:
    """One level after the other; `first_words` of states are filled in."""
    lines = _row_lines(content, header)
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
