"""An image of several copies of one model, each over words of its own between those of the others.

Copy 0 keeps the words' texts, so that speech asks it what it would ask the model: the same n-grams
are found, order by order. What lies between them is as much as the other copies hold, down to the
rows of neighbouring words, so that what is touched lies as far apart as in an image of that size.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.large_lm.trie import (
    BASE_SHIFT,
    MANY,
    ROW_LINE,
    ROWS_TOGETHER,
    STATE_LINE,
    STATES_TOGETHER,
    WORD_LINE,
    WORDS_TOGETHER,
    Bytes,
    Flags,
    Ints,
    Level,
    Trie,
    lines_of,
    mask_of,
    parts_of,
)
from earshot.decoder_kernels.lm.lm_header import LmHeader
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import seal

PIECE = 4_000_000
"""Rows that are made at a time."""
MARK = "#"
"""Between a word and the number of its copy."""


@dataclass(frozen=True)
class Piece:
    """Some items of one level of the model, and in which copies: in the order of the new image.

    items (I,): counted from the level's first. copies (I,).
    """

    items: Ints
    copies: Ints


class Weaver:
    """Writes the image. Raises ValueError for a model with words that copies would be named as."""

    def __init__(self, source: LmImage, copies: int) -> None:
        self._source = source
        self._copies = copies
        self._trie = Trie.read(source)
        old = source.header
        self._texts = [source.text_of(word) for word in range(old.words)]
        if any(MARK in text for text in self._texts):
            raise ValueError(f"{source.name} has words with {MARK!r}")
        inner = sum(int(level.is_state.sum()) for level in self._trie.levels)
        words = int(self._trie.word_is_state.sum())
        self.header = replace(
            old,
            words=copies * old.words,
            rows=tuple(copies * count for count in old.rows),
            tallies=copies * old.tallies,
            holes=copies * old.holes,
            states=1 + copies * (words + inner),
        )

    def write(self, path: Path) -> None:
        """Write it to a new file."""
        by_text = self._write_texts(path)
        content = np.memmap(path, np.uint8, "r+", shape=(self.header.checksums_at,))
        parts = parts_of(content, self.header)
        parts["by_text"][:] = by_text.view(np.uint8)
        parts["words"][:] = self._word_lines().view(np.uint8)
        self._write_rows(parts)
        self._write_states(parts)
        content.flush()
        with path.open("r+b") as file:
            seal(file, self.header)

    def _write_texts(self, path: Path) -> npt.NDArray[np.uint32]:
        """The texts and where they end; words by their texts, (V,)."""
        ending = [b"", *(f"{MARK}{copy}".encode() for copy in range(1, self._copies))]
        texts = [text.encode() + end for text in self._texts for end in ending]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        whole = b"".join(texts)
        self.header = replace(self.header, text_bytes=len(whole))
        with path.open("xb") as file:
            file.truncate(self.header.checksums_at)
            file.seek(self.header.parts["ends"].start)
            file.write(ends.tobytes())
            file.seek(self.header.parts["text"].start)
            file.write(whole)
        return np.argsort(np.array(texts)).astype(np.uint32)

    def _word_lines(self) -> npt.NDArray[np.void]:
        trie, k = self._trie, self._copies
        lines = np.zeros(lines_of(self.header.words, WORDS_TOGETHER), WORD_LINE)
        room = (0, len(lines) * WORDS_TOGETHER - self.header.words)
        costs = np.pad(np.repeat(trie.word_costs, k), room)
        lines["costs"] = costs.reshape(-1, WORDS_TOGETHER)
        bits = np.pad(np.repeat(trie.word_is_state, k).astype(np.uint32), room)
        bits = bits.reshape(-1, WORDS_TOGETHER)
        lines["bits"] = bits @ (1 << np.arange(WORDS_TOGETHER, dtype=np.uint32))
        counted = bits.sum(axis=1)
        lines["before"] = 1 + np.cumsum(counted) - counted
        return lines

    def _write_rows(self, parts: Mapping[str, Bytes]) -> None:
        out = RowLines(parts, 1 + self._copies * int(self._trie.word_is_state.sum()))
        for level in self._trie.levels[1:]:
            for piece in self._pieces(level.row_starts, level.row_starts):
                words = level.words[piece.items]
                mixed = words * np.uint32(self._copies) + piece.copies.astype(np.uint32)
                is_tally = level.is_tally[piece.items]
                out.add(
                    np.where(is_tally, words, mixed),
                    level.costs[piece.items],
                    level.is_state[piece.items],
                )
        out.close()

    def _write_states(self, parts: Mapping[str, Bytes]) -> None:
        trie, out = self._trie, StateLines(parts)
        out.add(*(np.zeros(1, np.int64) for _ in range(5)))  # that of no words
        for level, above in zip(trie.levels, trie.levels[1:], strict=False):
            for piece in self._pieces(level.state_starts, above.row_starts):
                states = level.first_state + piece.items
                out.add(
                    self._moved_rows(states, piece.copies, above),
                    trie.sizes[states],
                    self._moved_states(trie.suffixes[states], piece.copies),
                    trie.back_offs[states],
                    self._masks(states, piece.copies, above),
                )
        out.close()

    def _pieces(self, starts: Ints, weights: Ints) -> Iterator[Piece]:
        """A level's items: of each first word all of one copy, then all of the next."""
        for begin, end, copy, last in self._cuts(np.diff(starts) + np.diff(weights)):
            counts = np.diff(starts[begin : end + 1])
            copies = np.tile(np.arange(copy, last), end - begin)
            lengths = np.repeat(counts, last - copy)
            from_start = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            items = np.repeat(np.repeat(starts[begin:end], last - copy), lengths) + from_start
            yield Piece(items, np.repeat(copies, lengths))

    def _cuts(self, weights: Ints) -> Iterator[tuple[int, int, int, int]]:
        """First words from one to another, copies from one to another, of bounded weight."""
        ends = np.cumsum(weights)
        begin = 0
        while begin < len(weights):
            done = ends[begin - 1] if begin else 0
            most = done + PIECE // self._copies
            end = int(np.searchsorted(ends, most, "right"))
            if end > begin:
                yield begin, end, 0, self._copies
            else:
                end = begin + 1
                together = max(1, PIECE // int(weights[begin]))
                for copy in range(0, self._copies, together):
                    yield begin, end, copy, min(copy + together, self._copies)
            begin = end

    def _moved_states(self, states: Ints, copies: Ints) -> Ints:
        """The new numbers of a model's states in copies; that of no words stays."""
        trie, moved = self._trie, np.zeros(len(states), np.int64)
        for level in trie.levels:
            end = level.first_state + level.state_starts[-1]
            own = np.flatnonzero((states >= level.first_state) & (states < end))
            first = trie.first_words[states[own]]
            local = states[own] - level.first_state
            moved[own] = self._moved(local, first, copies[own], level.state_starts)
            moved[own] += 1 + self._copies * (level.first_state - 1)
        return moved

    def _moved_rows(self, states: Ints, copies: Ints, above: Level) -> Ints:
        local = self._trie.begins[states] - above.first_row
        first = self._trie.first_words[states]
        moved = self._moved(local, first, copies, above.row_starts)
        return moved + self._copies * above.first_row

    def _moved(self, items: Ints, first: Ints, copies: Ints, starts: Ints) -> Ints:
        length = starts[first + 1] - starts[first]
        return items + starts[first] * (self._copies - 1) + copies * length

    def _masks(self, states: Ints, copies: Ints, above: Level) -> npt.NDArray[np.uint8]:
        masks = np.zeros(len(states), np.uint8)
        begins = self._trie.begins - above.first_row
        for copy in np.unique(copies).tolist():
            own = np.flatnonzero((copies == copy) & (self._trie.sizes[states] > 0))
            if not len(own):
                continue
            begin = begins[states[own]]
            end = above.row_starts[self._trie.first_words[states[own[-1]]] + 1]
            there = slice(begin[0], end)
            bits = mask_of(above.words[there] * np.uint32(self._copies) + np.uint32(copy))
            bits[above.is_tally[there]] = 0
            masks[own] = np.bitwise_or.reduceat(bits, begin - begin[0])
        return masks


class RowLines:
    """Rows, twelve to a line; `states`: how many states lie before the first."""

    def __init__(self, parts: Mapping[str, Bytes], states: int) -> None:
        self._lines = parts["rows"].view(ROW_LINE)
        self._bases = parts["state_bases"].view("<u4")
        self._states = states
        self._next = 0
        self._left = np.zeros((0, 5), np.uint8), np.zeros(0, bool)

    def add(
        self, words: npt.NDArray[np.uint32], costs: npt.NDArray[np.uint16], is_state: Flags
    ) -> None:
        """More of them."""
        rows = np.empty((len(words), 5), np.uint8)
        rows[:, :3] = words.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3]
        rows[:, 3:] = costs.astype("<u2").view(np.uint8).reshape(-1, 2)
        rows = np.concatenate([self._left[0], rows])
        bits = np.concatenate([self._left[1], is_state])
        whole = len(rows) // ROWS_TOGETHER * ROWS_TOGETHER
        self._left = rows[whole:], bits[whole:]
        self._put(rows[:whole], bits[:whole])

    def close(self) -> None:
        """Fill up the last line."""
        rows, bits = self._left
        if len(rows):
            room = ROWS_TOGETHER - len(rows)
            self._put(np.pad(rows, ((0, room), (0, 0))), np.pad(bits, (0, room)))

    def _put(self, rows: npt.NDArray[np.uint8], is_state: Flags) -> None:
        bits = is_state.reshape(-1, ROWS_TOGETHER).astype(np.uint32)
        counted = bits.sum(axis=1)
        before = self._states + np.cumsum(counted, dtype=np.int64) - counted
        numbers = self._next + np.arange(len(bits))
        with_base = np.flatnonzero(numbers % (1 << BASE_SHIFT) == 0)
        self._bases[numbers[with_base] >> BASE_SHIFT] = before[with_base]
        lines = self._lines[self._next : self._next + len(bits)]
        from_base = before - self._bases[numbers >> BASE_SHIFT]
        shifted = from_base.astype(np.uint32) << np.uint32(ROWS_TOGETHER)
        lines["ranked"] = shifted | bits @ (1 << np.arange(ROWS_TOGETHER, dtype=np.uint32))
        lines["rows"] = rows.reshape(-1, ROWS_TOGETHER, 5)
        self._states += int(counted.sum())
        self._next += len(bits)


class StateLines:
    """States, eight to a line."""

    def __init__(self, parts: Mapping[str, Bytes]) -> None:
        self._lines = parts["states"].view(STATE_LINE)
        self._bases = parts["row_bases"].view("<u8")
        self._next = 0
        self._left: tuple[Ints, ...] = tuple(np.zeros(0, np.int64) for _ in range(5))

    def add(self, *columns: npt.NDArray[np.integer]) -> None:
        """Rows, sizes, suffixes, back-offs and masks (S,) of more of them."""
        joined = [
            np.concatenate([left, column.astype(np.int64)])
            for left, column in zip(self._left, columns, strict=True)
        ]
        whole = len(joined[0]) // STATES_TOGETHER * STATES_TOGETHER
        self._left = tuple(column[whole:] for column in joined)
        self._put([column[:whole].reshape(-1, STATES_TOGETHER) for column in joined])

    def close(self) -> None:
        """Fill up the last line."""
        room = -len(self._left[0]) % STATES_TOGETHER
        if room:
            self._put([np.pad(column, (0, room))[None] for column in self._left])

    def _put(self, columns: list[Ints]) -> None:
        rows, sizes, suffixes, back_offs, masks = columns
        lines = self._lines[self._next : self._next + len(rows)]
        numbers = self._next + np.arange(len(rows))
        with_base = np.flatnonzero(numbers % (1 << BASE_SHIFT) == 0)
        self._bases[numbers[with_base] >> BASE_SHIFT] = rows[with_base, 0]
        bases = self._bases[numbers >> BASE_SHIFT].astype(np.int64)
        lines["first_row"] = rows[:, 0] - bases
        lines["sizes"] = np.minimum(sizes, MANY) @ (1 << 4 * np.arange(STATES_TOGETHER))
        lines["suffixes"], lines["back_offs"], lines["masks"] = suffixes, back_offs, masks
        self._next += len(rows)


def weave(source: Path, copies: int, path: Path) -> LmHeader:
    """Write the image; its header."""
    weaver = Weaver(LmImage(source), copies)
    weaver.write(path)
    return weaver.header
