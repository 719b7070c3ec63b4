"""Images of language models whose counts lie, whose pages are damaged, or that are cut off.

One that is opened in spite of everything must answer all that can be asked of it, with whatever
number.
"""

import contextlib
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import torch
from backoff_oracle import crowded_model, random_model
from wfst_cases import SMALL, compact_graph

from earshot.decoder_kernels.errors import KernelError, LmImageError
from earshot.decoder_kernels.graph.graph import Arc
from earshot.decoder_kernels.lm.lm_header import _FIELDS, HEADER_BYTES, NO_WORD, LmHeader
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa
from earshot.decoder_kernels.lm.lm_texts import MixedLm, WordTexts
from earshot.decoder_kernels.wfst.search_lm import MAX_ORDER, NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models.open_lms import OpenLms
from earshot.streaming.lm_mix import LmMix

Damage = Callable[[Random, bytes, bytes], bytes]

COUNTS = (0, 1, 2, 3, 11, 12, 13, 27, 28, 29, 100, 5000, 1 << 16, 1 << 24, 1 << 32, 1 << 40,
          1 << 63, (1 << 64) - 1)  # fmt: skip
PATCHES = (0, 1, 7, 8, 0xF, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 1 << 24, 0x7FFFFFFF, 0x80000000,
           0xFFFFFFFE, 0xFFFFFFFF)  # fmt: skip
NUMBERS = np.array([0, 1, 2, 5, 8, 1 << 20, NO_WORD - 1, NO_WORD, (1 << 32) - 1], np.uint32)
TEXTS = ("<eps>", "w0", "w1")
FRAMES = [[[-3.0, -0.5, -1.0], [-1.0, -1.0, -0.25]]]
LINE_BYTES = 64
MOST_GROWN = 1 << 18
"""Bytes of a file that is made as long as its counts say."""


class HostileImages:
    """Damages the images of random models in ever new ways, and uses what can be opened."""

    def __init__(self, dice: Random, directory: Path) -> None:
        self._dice = dice
        self._path = directory / "bad.lm"
        models = [random_model(dice.getrandbits(30), size=5) for _ in range(3)]
        models.append(crowded_model(dice.getrandbits(30), dice.choice((2, 3))))
        self._intact = []
        for model in models:
            pack_arpa(model.write(directory), directory / "good.lm")
            self._intact.append((directory / "good.lm").read_bytes())
        self._good = LmImage(directory / "good.lm")
        graph = compact_graph([Arc(0, 2, 1, 0.5, 1), Arc(0, 3, 2, 0.5, 1)], 1, TEXTS[1:])
        self._graph = replace(graph, small_lm=self._good)
        self._served = directory / "lms" / "bad.lm"
        self._served.parent.mkdir()
        self._search = WfstSearch(graph, WfstSearchConfig(max_tokens=100, **SMALL), 1)

    def use(self) -> None:
        """Open a bad image, and ask it all. Raises KernelError."""
        content = self._content()
        if self._dice.random() < 0.1:
            self._serve(content)
        image = self._opened(content)
        _ask(image)
        _ask_words(image, self._dice)
        self._rank(image)
        if image.order <= MAX_ORDER and self._dice.random() < 0.1:
            self._search_with(image)
        with contextlib.suppress(LmImageError):
            image.check()

    def _content(self) -> bytes:
        dice = self._dice
        content = dice.choice(self._intact)
        for _ in range(dice.choice((1, 1, 2, 5))):
            content = dice.choice(_DAMAGES)(dice, content, dice.choice(self._intact))
        return content

    def _opened(self, content: bytes) -> LmImage:
        """Mapped, or in memory of just that size, where sanitizers see what is read behind it."""
        if self._dice.random() < 0.1:
            # What somebody has mapped is not written again.
            self._path.unlink(missing_ok=True)
            self._path.write_bytes(content)
            return LmImage(self._path)
        room = np.empty(len(content) + LINE_BYTES, np.uint8)
        begin = -room.ctypes.data % LINE_BYTES
        own = room[begin : begin + len(content)]
        own[:] = np.frombuffer(content, np.uint8)
        return LmImage(self._path, content=memoryview(own))

    def _serve(self, content: bytes) -> None:
        """As a stream names it. Raises AssertionError for errors that are not that stream's."""
        self._served.unlink(missing_ok=True)
        self._served.write_bytes(content)
        config, name = GraphSearchConfig(lm_in_search=True), self._served.stem
        lms = OpenLms.of(self._served.parent, self._graph, config, torch.device("cpu"))
        try:
            lms.hold(LmMix.read(name)).release()
        except InvalidStreamConfig:
            assert lms.count == 0
        except KernelError as error:
            raise AssertionError(f"lm={name} would end an engine") from error

    def _rank(self, image: LmImage) -> None:
        dice = self._dice
        words = (*TEXTS, "<unk>", "", "nowhere", None)
        ends = np.cumsum([dice.randrange(5) for _ in range(5)], dtype=np.int64)
        places = np.array([dice.randrange(len(words)) for _ in range(ends[-1])], np.int64)
        texts = WordTexts(words, places, ends).closed()
        MixedLm([image, self._good], (0.7, 0.3)).costs(texts)
        MixedLm([image], (1.0,)).costs(texts, TEXTS)

    def _search_with(self, image: LmImage) -> None:
        """As the large model, and as the small one beside another."""
        bad, good = NumberedLm.of(image, TEXTS), NumberedLm.of(self._good, TEXTS)
        slots, frames = torch.tensor([0]), torch.tensor(FRAMES)
        for small, large, shares in ((good, [bad], (1.0,)), (bad, [good, bad], (0.5, 0.5))):
            self._search.reset(slots)
            self._search.set_lm(0, SearchLm(small, large, shares))
            self._search.advance(slots, frames, torch.tensor([2]))
            self._search.nbest([0], 10)


def _ask(image: LmImage) -> None:
    """Lookups by numbers that the image has, and by others."""
    states = np.append(np.arange(min(image.header.states + 2, 60)), [1 << 31, (1 << 32) - 1])
    grid = np.meshgrid(states.astype(np.uint32), NUMBERS)
    costs, after = image.look_up(grid[0].ravel(), grid[1].ravel())
    assert int(after.max()) < max(1, image.header.states)
    for place, (state, word) in enumerate(zip(*(each.ravel() for each in grid), strict=True)):
        if place % 37 == 0:
            assert image.find(int(state), int(word)) == (costs[place], after[place])
    for state in states.tolist():
        image.back_off(state)


def _ask_words(image: LmImage, dice: Random) -> None:
    """Texts by words, and words by texts."""
    for word in (*NUMBERS.tolist(), dice.randrange(image.header.words)):
        with contextlib.suppress(LmImageError):
            image.text_of(word)
    image.find_words([*TEXTS, "", "\x00", "nowhere", "é" * 500])
    image.cost_of(["w1", "w0", "nowhere", "w1"])


def _sealed(header: bytes) -> bytes:
    fields = header[: _FIELDS.size - 4]
    return fields + struct.pack("<I", zlib.crc32(fields)) + header[_FIELDS.size :]


def _lied(dice: Random, content: bytes, _: bytes) -> bytes:
    """A number of the header is another; mostly its checksum is right."""
    if len(content) < HEADER_BYTES:
        return content
    header = bytearray(content[:HEADER_BYTES])
    at = dice.choice((8, 12, *range(16, 16 + 8 * 12, 8)))
    value = dice.choice((dice.randrange(400), dice.choice(COUNTS)))
    if at < 16:
        struct.pack_into("<I", header, at, value & 0xFFFFFFFF)
    else:
        struct.pack_into("<Q", header, at, value)
    told = bytes(header) if dice.random() < 0.1 else _sealed(bytes(header))
    return told + content[HEADER_BYTES:]


def _recounted(dice: Random, content: bytes, other: bytes) -> bytes:
    """Other counts, and a file of the size that follows from them: it opens."""
    try:
        header = LmHeader.read("intact", content[:HEADER_BYTES], len(content))
    except LmImageError:
        return content
    order = dice.choice((header.order, dice.randint(1, 6)))
    rows = [count if n and n < order else 0 for n, count in enumerate(header.rows)]
    if order > 1:
        rows[dice.randrange(1, order)] = dice.choice((0, 1, dice.randrange(5000)))
    few = dice.choice((1, 3, dice.randrange(1, 500)))
    most = 1 + (0 if order == 1 else few + sum(rows[: order - 1]))
    lie = replace(
        header,
        order=order,
        rows=tuple(rows),
        words=few,
        states=dice.randint(1, most),
        tallies=dice.choice((header.tallies, 0, dice.randrange(300))),
        text_bytes=dice.choice((header.text_bytes, 0, dice.randrange(9000))),
    )
    if lie.file_size > MOST_GROWN:
        return content
    body = content[HEADER_BYTES:] + dice.choice((b"", other)) + b"\xff" * dice.choice((0, 9999))
    return (lie.packed() + body).ljust(lie.file_size, dice.choice((b"\0", b"\xff", b"\x55")))[
        : lie.file_size
    ]


def _patched(dice: Random, content: bytes, _: bytes) -> bytes:
    """Numbers in pages are others."""
    changed = bytearray(content)
    for _ in range(dice.choice((1, 10, 60)) if len(content) > HEADER_BYTES + 8 else 0):
        at = dice.randrange(HEADER_BYTES, len(content) - 7)
        form, mask = dice.choice((("<B", 0xFF), ("<H", 0xFFFF), ("<I", 0xFFFFFFFF), ("<Q", -1)))
        value = dice.choice((dice.choice(PATCHES), dice.getrandbits(32))) & mask
        struct.pack_into(form, changed, at - at % struct.calcsize(form), value)
    return bytes(changed)


def _flooded(dice: Random, content: bytes, other: bytes) -> bytes:
    """A span is of one byte, noise, or another image's."""
    begin = dice.randint(HEADER_BYTES, max(HEADER_BYTES, len(content)))
    end = min(len(content), begin + dice.choice((64, 1024, len(content))))
    size = max(0, end - begin)
    span = dice.choice((bytes([dice.choice((0, 1, 0x7F, 0xFF))]) * size, dice.randbytes(size)))
    if dice.random() < 0.3:
        span = other[begin : begin + size].ljust(size, b"\0")
    return content[:begin] + span + content[begin + size :]


def _cut(dice: Random, content: bytes, _: bytes) -> bytes:
    """It is shorter or longer than it says."""
    if dice.random() < 0.3:
        return content + dice.randbytes(dice.choice((1, 4, 64, 4096)))
    return content[: dice.choice((len(content) - 1, dice.randint(0, len(content))))]


_DAMAGES: tuple[Damage, ...] = (
    _lied, _lied, _recounted, _recounted, _patched, _patched, _patched, _flooded, _flooded, _cut,
)  # fmt: skip
