"""Language models that take the place of the graph's own while it is searched."""

import math
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.device_errors import device_errors
from earshot.decoder_kernels.errors import InvalidConfig
from earshot.decoder_kernels.graph.wfst_options import (
    FRACTION_BITS,
    MAX_BEAM,
    MAX_COST,
    MAX_SCALE,
    SCALE_STEPS,
    fixed,
)
from earshot.decoder_kernels.lm.class_names import MOST_CLASSES
from earshot.decoder_kernels.lm.lm_header import NO_WORD
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.word_classes import image_classes
from earshot.decoder_kernels.native import kernels, native_half
from earshot.native.dlpack import dlpack_capsule

MAX_ORDER = 4
"""A token's key has room for the last three words."""

MAX_WORDS = (1 << 21) - 2
"""Words of a graph, of 21 bits each in a key; two numbers are the start of a sentence and any word
that is spelled."""

UNKNOWN_WORD = MAX_WORDS
"""In a state: a word that is not in the graph (``csrc/pricing/lm_words.h``)."""

MOST_MODELS = 4
_NO_LIMIT = 2 * MAX_COST + 1.0
"""In nats: no word can gain so much, nor a history be so much dearer that it matters."""

Members = npt.NDArray[np.int64]
NO_MEMBERS: Members = np.empty((0, 2), np.int64)


@dataclass(frozen=True, eq=False)
class NumberedLm:
    """A model's image and its numbers of a graph's words ``(W,)``, made once for both.

    is_resident: whether a GPU is given a copy of the image, instead of reading it in the host's
        memory: for the graph's own, which is asked of all words.
    classes: its numbers of its classes of words, by name.

    Raises InvalidConfig for a model or a graph that is too large for a token's key, LmImageError
    for a class whose text is no UTF-8.
    """

    image: LmImage
    numbers: npt.NDArray[np.uint32]
    is_resident: bool = False
    classes: Mapping[str, int] = field(init=False, repr=False)
    native: kernels.NumberedLm = field(init=False, repr=False)
    _placed: dict[torch.device, kernels.cpu.PlacedLm] = field(
        init=False, repr=False, default_factory=dict
    )
    _placing: threading.Lock = field(init=False, repr=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if self.image.order > MAX_ORDER:
            raise InvalidConfig(
                f"{self.image.name} is of order {self.image.order}; a search takes {MAX_ORDER}"
            )
        if len(self.numbers) > MAX_WORDS:
            raise InvalidConfig(
                f"{len(self.numbers)} words; a search with models takes {MAX_WORDS}"
            )
        native = kernels.NumberedLm(self.image.native, self.numbers)
        object.__setattr__(self, "native", native)
        object.__setattr__(self, "classes", image_classes(self.image))

    @classmethod
    def of(
        cls, image: LmImage, word_texts: Sequence[str], *, is_resident: bool = False
    ) -> "NumberedLm":
        """Find a graph's words in an image: 1.7 µs each, 0.2 s for 120,000. Not on an event loop.

        Word 0 is none.
        """
        return cls(image, image.find_words(word_texts), is_resident)

    @device_errors()
    def placed(self, device: torch.device) -> kernels.cpu.PlacedLm:
        """The model where kernels on this device read it, for as long as this object lives.

        A GPU reads an image that is not resident in the host's memory, where it is pinned, or
        copied if the driver does not take it there (``is_copied``): not on an event loop. Its
        numbers are copied. Raises DeviceError where the device refuses both, OutOfDeviceMemory,
        BackendMissing.
        """
        with self._placing:
            numbers = torch.from_numpy(self.numbers)
            own = numbers[:0].to(device).device  # "cuda" is one with a number
            if own not in self._placed:
                with _current(own):
                    there = [numbers.to(own), *self._content_on(own)]
                    placed = native_half(own).PlacedLm(self.native, *map(dlpack_capsule, there))
                self._placed[own] = placed
            return self._placed[own]

    def _content_on(self, device: torch.device) -> list[Tensor]:
        """A copy of the image on a device, if it is to have one."""
        if not self.is_resident or device.type == "cpu":
            return []
        content = np.frombuffer(self.image.content, np.uint8, self.image.header.content_end)
        return [torch.tensor(content, device=device)]


@dataclass(frozen=True, eq=False)
class SearchLm:
    """What the words of a search cost by large models, in place of the graph's small one.

    A word costs ``scale * (L - S)`` beside its arc: L is what the `large` models say after the
    words before, their probabilities mixed by `shares`, S what `small` says, which is the graph's
    `small_lm`. ``scale`` has to be the search's ``graph_scale``: S is then what the arcs pay, to
    the bit, and what is left is L. Words that a table spells are unknown words.

    scale: rounded to a multiple of 2^-16, as ``graph_scale`` is.
    gain_limit: in nats, what a word can gain at most while the search goes on; n-best lists are
        given the rest of it.
    classes: names of the classes of words whose members a table may have, each of a large model at
        least; one that lacks it says nothing of it. To the small one they are unknown words.
    history_beam: in nats, how much dearer than the cheapest a token may be that differs from it
        in no more than the words before; what lies beyond is no alternative in lists either.
    before: words that were told before the first, the newest last: the large models go on behind
        the last three, the small one, as the arcs do, begins a sentence. The graph's ids; from
        there on its classes, by their places; `UNKNOWN_WORD` is any other. A sentence begins where
        there are none.
    Either may be infinite. Raises InvalidConfig for values that make no search.
    """

    small: NumberedLm
    large: Sequence[NumberedLm]
    shares: Sequence[float]
    scale: float = 1.0
    gain_limit: float = 3.0
    history_beam: float = 3.0
    classes: Sequence[str] = ()
    before: Sequence[int] = ()
    native: kernels.SearchLm = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._check()
        scale = round(self.scale * SCALE_STEPS) / SCALE_STEPS
        object.__setattr__(self, "scale", scale)
        native = kernels.SearchLm(
            self.small.native,
            [each.native for each in self.large],
            np.log(np.array(self.shares, np.float64)),
            self._numbers_of_classes(),
            np.array(self.before, np.int64),
            scale=scale,
            gain=_fixed_limit(self.gain_limit, _NO_LIMIT),
            history_beam=_fixed_limit(self.history_beam, MAX_BEAM),
        )
        object.__setattr__(self, "native", native)

    def behind(self, before: Sequence[int]) -> "SearchLm":
        """The same behind words told before; what is looked up is kept for it alone."""
        return replace(self, before=tuple(before))

    def members(self, table: WordBoostTable | None, unknown_cost: float) -> Members:
        """The words of a table as these models take them (M, 2): class, or -1, and added cost.

        ``unknown_cost``: of the graph. Members of a class that no model has are unknown words.
        """
        if table is None:
            return NO_MEMBERS
        numbers = {name: number for number, name in enumerate(self.classes)}
        told = [(-1, 0)] * len(table.spellings)
        told += [
            (numbers.get(each.word_class, -1), fixed(each.added(unknown_cost) * self.scale))
            for each in table.members
        ]
        return np.array(told, np.int64).reshape(-1, 2)

    def row(self, device: torch.device, members: Tensor) -> Tensor:
        """The bytes ``(N,)`` uint8, on the CPU, that kernels on a device read of the models.

        ``members`` (M, 2), on the device: those of the slot. Good for as long as this object and
        they live. Raises what `NumberedLm.placed` raises.
        """
        large = [each.placed(device) for each in self.large]
        told = native_half(device).placed_row(
            self.native, self.small.placed(device), large, dlpack_capsule(members)
        )
        return torch.frombuffer(bytearray(told), dtype=torch.uint8)

    def _numbers_of_classes(self) -> npt.NDArray[np.uint32]:
        """By model (L, C)."""
        for name in self.classes:
            if not any(name in each.classes for each in self.large):
                raise InvalidConfig(f"no model has the class {name}")
        numbers = [
            [each.classes.get(name, NO_WORD) for name in self.classes] for each in self.large
        ]
        return np.array(numbers, np.uint32).reshape(len(self.large), -1)

    def _check(self) -> None:
        if not len(set(self.classes)) == len(self.classes) <= MOST_CLASSES:
            raise InvalidConfig(f"a search takes up to {MOST_CLASSES} classes, each once")
        known = len(self.small.numbers) + len(self.classes)
        if known > MAX_WORDS:
            raise InvalidConfig(f"a search with models takes {MAX_WORDS} words and classes")
        if not 1 <= len(self.large) <= MOST_MODELS or len(self.shares) != len(self.large):
            raise InvalidConfig(f"a search takes 1 to {MOST_MODELS} models, each with its share")
        if not all(0 < word < known or word == UNKNOWN_WORD for word in self.before):
            raise InvalidConfig("a word that was told before is none of the graph's, nor a class")
        total = sum(self.shares)
        # Written so that NaN fails.
        if not all(share > 0.0 for share in self.shares) or not math.isclose(total, 1.0):
            raise InvalidConfig("the shares of models must be above 0 and sum to 1")
        if not 0.0 <= self.scale <= MAX_SCALE:
            raise InvalidConfig(f"the scale of models must lie in 0..{MAX_SCALE:g}")
        if not (self.gain_limit >= 0.0 and self.history_beam >= 0.0):
            raise InvalidConfig("gain_limit and history_beam must not be negative")
        if any(len(each.numbers) != len(self.small.numbers) for each in self.large):
            raise InvalidConfig("the models are numbered for other graphs than the small one")


def _current(device: torch.device) -> AbstractContextManager[None]:
    """The device, for what the CUDA runtime is asked without naming one."""
    if device.type == "cpu":
        return nullcontext()
    guard: AbstractContextManager[None] = torch.get_device_module(device).device(device)
    return guard


def _fixed_limit(nats: float, most: float) -> int:
    """In the search's unit; an infinite one is what nothing can exceed."""
    return round(min(nats, most) * 2.0**FRACTION_BITS)
