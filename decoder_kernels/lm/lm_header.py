"""The first 4 KB of a language model's image: counts, from which all places follow.

::

    header      4,096 bytes, little endian, see `_FIELDS`
    ends, text  (V,) int64, where the UTF-8 of each word's text ends; then all that text
    by_text     (V,) uint32, the words by the bytes of their texts
    words       lines of 28: costs of 2^-10 nat, the likeliest word first, and which are states
    rows        lines of 12: a word of 24 bits, a cost of 16, and which are states
    states      lines of 8: children, suffix, back-off, mask of children
    state_bases uint32, of each 65,536 lines of rows: the state that theirs are counted from
    row_bases   uint64, of each 65,536 lines of states: the row that theirs are counted from
    checksums   (C,) uint32, the CRC-32 of each megabyte behind the header

A line has 64 bytes (`csrc/lm/lm_layout.h`); each part begins at a multiple of 64.
"""

import struct
import zlib
from dataclasses import dataclass

from earshot.decoder_kernels.errors import LmImageError

MAGIC = b"EARGRAML"
VERSION = 2
HEADER_BYTES = 4096
ALIGNMENT = 64
MAX_ORDER = 6
BLOCK_BYTES = 1 << 20
LINES_OF_A_BASE = 1 << 16
NO_WORD = (1 << 24) - 1
MAX_STATES = (1 << 32) - 2
MAX_COUNT = 1 << 40

# Magic, version, order, size of the file | words, bytes of text, rows of each order, tallies,
# states, holes | checksums of the words' texts, of the checksums and of the header, the last field.
_FIELDS = struct.Struct(f"<8sIIQ QQ{MAX_ORDER}QQQQ 16sII")


@dataclass(frozen=True)
class LmHeader:
    """Counts of an image.

    rows: n-grams of each order, those of single words apart; ``holes`` of them are contexts that
    the model does not list. tallies: rows beside them, that count others.
    vocabulary: a checksum of the words' texts, 16 bytes.
    """

    order: int
    words: int
    text_bytes: int
    rows: tuple[int, ...]
    tallies: int
    states: int
    holes: int
    vocabulary: bytes
    checksums: int = 0

    @property
    def num_ngrams(self) -> int:
        """The number of n-grams that the model lists."""
        return self.words + sum(self.rows) - self.holes

    @property
    def by_text_at(self) -> int:
        """The place of the words' numbers by their texts."""
        return self.parts["by_text"].start

    @property
    def content_end(self) -> int:
        """The bytes of header and parts, checksums apart."""
        return self.parts["row_bases"].stop

    @property
    def checksums_at(self) -> int:
        """The place of the checksums."""
        return self.content_end + -self.content_end % ALIGNMENT

    @property
    def num_blocks(self) -> int:
        """C."""
        return -(-(self.checksums_at - HEADER_BYTES) // BLOCK_BYTES)

    @property
    def file_size(self) -> int:
        """All bytes."""
        return self.checksums_at + 4 * self.num_blocks

    def packed(self) -> bytes:
        """The header, (4096,) bytes."""
        fields = _FIELDS.pack(
            MAGIC, VERSION, self.order, self.file_size, self.words, self.text_bytes, *self.rows,
            self.tallies, self.states, self.holes, self.vocabulary, self.checksums, 0,
        )  # fmt: skip
        start = fields[:-4]
        return (start + struct.pack("<I", zlib.crc32(start))).ljust(HEADER_BYTES, b"\0")

    @classmethod
    def read(cls, name: str, content: bytes, file_size: int) -> "LmHeader":
        """The header of a whole file of that size. Raises LmImageError."""
        if len(content) < HEADER_BYTES or not content.startswith(MAGIC):
            raise LmImageError(f"{name} is no image of a language model")
        _, version, order, told_size, *counts = _FIELDS.unpack_from(content)
        if version != VERSION:
            raise LmImageError(
                f"{name} is an image of version {version}; this is version {VERSION}: pack it again"
            )
        *counts, vocabulary, checksums, own = counts
        if own != zlib.crc32(content[: _FIELDS.size - 4]):
            raise LmImageError(f"{name} is damaged: the checksum of its header is wrong")
        words, text_bytes, *rows, tallies, states, holes = counts
        header = cls(
            order, words, text_bytes, tuple(rows), tallies, states, holes, vocabulary, checksums
        )
        if not header._is_possible() or told_size != header.file_size:
            raise LmImageError(f"{name} is damaged: its counts contradict each other")
        if file_size != told_size:
            raise LmImageError(f"{name} has {file_size} bytes where {told_size} should be")
        return header

    def _is_possible(self) -> bool:
        rows = self.rows
        return (
            1 <= self.order <= MAX_ORDER
            and 1 <= self.words < NO_WORD
            and not rows[0]
            and not any(rows[self.order :])
            and max(*rows, self.text_bytes, self.holes, self.tallies) <= MAX_COUNT
            and 1 <= self.states <= min(MAX_STATES, 1 + self._most_contexts)
        )

    @property
    def _most_contexts(self) -> int:
        """Words, and rows below the highest order."""
        return 0 if self.order == 1 else self.words + sum(self.rows[: self.order - 1])

    @property
    def parts(self) -> dict[str, range]:
        """The bytes of each part, one behind the other (`csrc/lm/lm_parts.h`)."""
        row_lines = -(-(sum(self.rows) + self.tallies) // 12)
        state_lines = -(-self.states // 8)
        sizes = {
            "ends": 8 * self.words,
            "text": self.text_bytes,
            "by_text": 4 * self.words,
            "words": 64 * -(-self.words // 28),
            "rows": 64 * row_lines,
            "states": 64 * state_lines,
            "state_bases": 4 * -(-row_lines // LINES_OF_A_BASE),
            "row_bases": 8 * -(-state_lines // LINES_OF_A_BASE),
        }
        at, parts = HEADER_BYTES, {}
        for name, size in sizes.items():
            at += -at % ALIGNMENT
            parts[name] = range(at, at := at + size)
        return parts
