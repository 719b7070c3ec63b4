"""A search whose slots are ill-treated, but for one, the control, which must not notice."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeVar

import fuzz_device
import hostile_inputs
import numpy as np
import torch
from hostile_inputs import INTEGERS, Rows
from torch import Tensor

from earshot.decoder_kernels.errors import DeviceError, InvalidInput, KernelError
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch

S = TypeVar("S", PrefixSearch, WfstSearch)

LONG_CHUNK = 40


@dataclass(frozen=True)
class Outcome:
    """How many operations of a kind were done, and how many of them an error refused."""

    what: str
    done: int = 1
    refused: int = 0
    error: str = ""


class SearchTrial(ABC, Generic[S]):
    """One search, and beside it one with a single slot that gets what the control gets.

    Each `step` does something at random, then compares the control with that lone slot, to the bit.
    Raises AssertionError where they differ or a result makes no sense; any exception but a
    KernelError is a fault as well.
    """

    def __init__(self, dice: Random, vocab_size: int, make: Callable[[int], S]) -> None:
        self.dice = dice
        self.vocab_size = vocab_size
        self.num_slots = dice.choice((2, 4, 8, 16))
        self.control = dice.randrange(self.num_slots)
        self.hostile = [slot for slot in range(self.num_slots) if slot != self.control]
        self.search, self.lone = make(self.num_slots), make(1)
        self.frames = dict.fromkeys(self.hostile, 0)
        self.operations: dict[str, tuple[float, Callable[[], Outcome]]] = {
            "advance": (8, self._advance),
            "malformed call": (1, self._malformed),
            "reset": (1, self._reset),
            "boost": (2, self._boost),
            "results": (3, self._results),
        }
        self._expected = self.snapshot(self.lone, 0)

    @abstractmethod
    def snapshot(self, search: S, slot: int) -> Any:
        """What can be asked of a slot cheaply."""

    @abstractmethod
    def full_snapshot(self, search: S, slot: int) -> Any:
        """All that can be asked of it."""

    @abstractmethod
    def list_one(self, slot: int) -> None:
        """Ask for a slot's alternatives. Raises KernelError."""

    @abstractmethod
    def check_results(self, slot: int) -> None:
        """Ask for a slot's results and look at them."""

    @abstractmethod
    def boost(self, slot: int) -> None:
        """Give the slot a hostile table. Raises KernelError."""

    def step(self) -> Outcome:
        """Do something, and look at the control."""
        names = list(self.operations)
        weights = [weight for weight, _ in self.operations.values()]
        [name] = self.dice.choices(names, weights)
        try:
            outcome = self.operations[name][1]()
        except DeviceError:
            raise  # no client's doing, whatever it asked for
        except KernelError as error:
            outcome = Outcome(name, 1, 1, type(error).__name__)
        self._compare_control(name)
        return outcome

    def _compare_control(self, after: str) -> None:
        same = self.snapshot(self.search, self.control) == self._expected
        if self.dice.random() < 0.01:
            full = self.full_snapshot(self.search, self.control)
            same = same and full == self.full_snapshot(self.lone, 0)
        if not same:
            raise AssertionError(f"the control is not what it is alone, after: {after}")

    def _advance(self) -> Outcome:
        """A chunk for some of the slots, mostly with the control among them."""
        dice, arrays = self.dice, np.random.default_rng(self.dice.getrandbits(64))
        longest = LONG_CHUNK if dice.random() < 0.005 else dice.randint(0, 5)
        lanes = dice.sample(self.hostile, dice.randint(1, len(self.hostile)))
        hostile = len(lanes)
        if dice.random() < 0.7:
            lanes.insert(dice.randint(0, hostile), self.control)
        lengths = [dice.randint(0, longest) for _ in lanes]
        batch = hostile_inputs.well_formed(arrays, len(lanes), longest, self.vocab_size)
        refused = []
        for lane, (slot, length) in enumerate(zip(lanes, lengths, strict=True)):
            if slot == self.control:
                self._advance_lone(batch[lane : lane + 1, :length])
            else:
                hostile_inputs.spoil(dice, arrays, batch[lane, :length])
            batch[lane, length:] = math.nan  # what pads a chunk is poison too
            if hostile_inputs.must_be_refused(batch[lane, :length]):
                refused.append(slot)
        self._advance_and_compare(lanes, torch.from_numpy(batch), lengths, refused)
        return Outcome("advance", hostile, len(refused), "InvalidInput" if refused else "")

    def _advance_lone(self, rows: Rows) -> None:
        there = torch.from_numpy(rows).to(fuzz_device.device())
        self.lone.advance(torch.tensor([0]), there, torch.tensor([rows.shape[1]]))
        self._expected = self.snapshot(self.lone, 0)

    def _advance_and_compare(
        self, lanes: list[int], batch: Tensor, lengths: list[int], refused: list[int]
    ) -> None:
        """Just those lanes must be refused that have to be, and their slots stay as they were."""
        before = [self.snapshot(self.search, slot) for slot in refused]
        if self.dice.random() < 0.1:
            batch = batch.permute(2, 0, 1).contiguous().permute(1, 2, 0)
        found: list[int] = []
        try:
            there = batch.to(fuzz_device.device())
            self.search.advance(torch.tensor(lanes), there, torch.tensor(lengths))
        except InvalidInput as error:
            found = [lanes[lane] for lane in error.lanes]
        assert found == refused, "other lanes were refused than had to be"
        after = [self.snapshot(self.search, slot) for slot in refused]
        assert after == before, "a lane that was refused has moved"
        for slot, length in zip(lanes, lengths, strict=True):
            if slot in self.frames and slot not in refused:
                self.frames[slot] += length

    def _malformed(self) -> Outcome:
        """A call that must be refused as a whole."""
        slots = torch.arange(self.num_slots)
        batch = torch.zeros(self.num_slots, 2, self.vocab_size, device=fuzz_device.device())
        lengths = torch.ones(self.num_slots, dtype=torch.int64)
        bad_slot = self.dice.choice((self.num_slots, *INTEGERS[6:], -1))
        match self.dice.randrange(9):
            case 0:
                slots[0] = self.dice.choice((1, bad_slot))
            case 1:
                batch = batch.double()
            case 2:
                batch = batch[..., 1:]
            case 3:
                lengths[0] = self.dice.choice((3, *INTEGERS[6:], -1))
            case 4:
                lengths = lengths[1:]
            case 5:
                self.search.reset(torch.tensor([bad_slot]))
            case 6:
                self.search.set_boost(bad_slot, None)
            case 7:
                self.search.best(torch.tensor([bad_slot]))
            case 8:
                self.list_one(bad_slot)
        self.search.advance(slots, batch, lengths)
        raise AssertionError("a malformed call was not refused")

    def _reset(self) -> Outcome:
        hostile = self.dice.sample(self.hostile, self.dice.randint(1, len(self.hostile)))
        self.frames.update(dict.fromkeys(hostile, 0))
        chosen = hostile
        if self.dice.random() < 0.3:
            chosen = [*hostile, self.control]
            self.lone.reset(torch.tensor([0]))
            self._expected = self.snapshot(self.lone, 0)
        self.search.reset(torch.tensor(chosen))
        return Outcome("reset", len(hostile))

    def _boost(self) -> Outcome:
        slot = self.dice.choice(self.hostile)
        if self.dice.random() < 0.2:
            self.search.set_boost(slot, None)
        else:
            self.boost(slot)
        return Outcome("boost")

    def _results(self) -> Outcome:
        assert self.search.overflows() >= 0
        self.check_results(self.dice.choice(self.hostile))
        return Outcome("results")
