"""A language model's image, mapped: what is not touched takes no memory, and processes share it."""

import mmap
import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import LmImageError
from earshot.decoder_kernels.lm.lm_header import (
    BLOCK_BYTES,
    HEADER_BYTES,
    NO_WORD,
    LmHeader,
)
from earshot.decoder_kernels.native import kernels

COST_STEPS = 1024
"""Costs are integers of 2^-10 nat."""
NEVER = 65534
"""The most that a word costs alone, 64 nats: how ARPA files write zero, and what an unknown word
costs of a model that has none."""
MOST_BACK_OFF = 32767
"""The most that a back-off costs or gains."""
ROOT = 0
"""The state of no words."""
SENTENCE_START = "<s>"
SENTENCE_END = "</s>"

States = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint32]
Costs = npt.NDArray[np.int32]


class LmImage:
    """An open image; it stays as it is while another file takes its name.

    Opening reads the header and the file's size alone. Costs are negative natural logarithms, in
    2^-10 nat. A state is what of the words so far the model can tell from less (`ROOT`: nothing).
    ``content`` is the image where it is only a part of what `path` holds; else all of that file is
    mapped. ``unknown_cost`` is what a word costs that the model lacks, if it has no unknown word.
    Raises LmImageError for what is no image, is cut off, of another version or contradicts itself.
    """

    def __init__(
        self, path: Path, unknown_cost: int = NEVER, content: memoryview | None = None
    ) -> None:
        self.path = path
        self.name = path.name or str(path)
        self.found: os.stat_result | None = None
        """The file that is mapped, whatever has its name now; None where a part is given."""
        if content is None:
            whole, self.found = _mapped(path, self.name)
            content = memoryview(whole)
        self._content = content
        self.header = LmHeader.read(
            self.name, self._content[:HEADER_BYTES].tobytes(), len(self._content)
        )
        header = self.header
        self._native = kernels.LmImage(
            np.frombuffer(self._content, np.uint8, header.content_end),
            order=header.order,
            words=header.words,
            text_bytes=header.text_bytes,
            rows=header.rows,
            tallies=header.tallies,
            states=header.states,
            unknown_cost=unknown_cost,
        )

    @property
    def native(self) -> kernels.LmImage:
        """The image as kernels take it."""
        return self._native

    @property
    def order(self) -> int:
        """The n of the longest n-grams."""
        return self.header.order

    @property
    def content(self) -> memoryview:
        """All bytes of the image, read only."""
        return self._content

    def find_words(self, texts: Iterable[str]) -> Words:
        """The numbers (W,) of words; NO_WORD for those that the model lacks."""
        words = list(texts)
        numbers = np.empty(len(words), np.uint32)
        self._native.find_words(words, numbers)
        return numbers

    def text_of(self, word: int) -> str:
        """A word's text. Raises LmImageError for what is no UTF-8."""
        try:
            return self._native.text_of(word).decode()
        except UnicodeDecodeError as error:
            raise LmImageError(f"{self.name} is damaged: word {word} is no UTF-8") from error

    def find(self, state: int, word: int) -> tuple[int, int]:
        """What a word costs after a state, and the state after it; NO_WORD is an unknown word."""
        return self._native.find(state, word)

    def look_up(self, states: States, words: Words) -> tuple[Costs, States]:
        """Costs (B,) of words (B,) after states (B,), and the states (B,) after them."""
        costs, after = np.empty(len(words), np.int32), np.empty(len(words), np.uint32)
        self._native.look_up(
            np.ascontiguousarray(states, np.uint32),
            np.ascontiguousarray(words, np.uint32),
            costs,
            after,
        )
        return costs, after

    def back_off(self, state: int) -> int:
        """The cost of leaving all words of a state."""
        return self._native.back_off(state)

    def state_after(self, words: Iterable[int], state: int = ROOT) -> int:
        """The state that words lead to."""
        for word in words:
            _, state = self.find(state, word)
        return state

    def cost_of(self, sentence: Sequence[str]) -> int:
        """What a sentence costs after its start, its end included."""
        start, *words = self.find_words([SENTENCE_START, *sentence, SENTENCE_END]).tolist()
        state = ROOT if start == NO_WORD else self.state_after([start])
        total = 0
        for word in words:
            cost, state = self.find(state, word)
            total += cost
        return total

    def check(self) -> None:
        """Read all of it. Raises LmImageError where a checksum is wrong."""
        told = self._content[self.header.checksums_at : self.header.file_size]
        if zlib.crc32(told) != self.header.checksums:
            raise LmImageError(f"{self.name} is damaged: its checksums are")
        sums = np.frombuffer(told, "<u4").tolist()
        for block, (found, wanted) in enumerate(
            zip(block_sums(self._content, self.header), sums, strict=True)
        ):
            if found != wanted:
                raise LmImageError(f"{self.name} is damaged in its megabyte {block}")


def block_sums(content: mmap.mmap | memoryview, header: LmHeader) -> list[int]:
    """The checksums (C,) of what lies between the header and them."""
    end = header.checksums_at
    return [
        zlib.crc32(content[begin : min(begin + BLOCK_BYTES, end)])
        for begin in range(HEADER_BYTES, end, BLOCK_BYTES)
    ]


def _mapped(path: Path, name: str) -> tuple[mmap.mmap, os.stat_result]:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if found.st_size == 0:
                raise LmImageError(f"{name} is empty")
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise LmImageError.unreadable(error, name) from error
    # Else each page that is touched brings 31 others along.
    content.madvise(mmap.MADV_RANDOM)
    return content, found
