"""A transducer that is a table of random logits, walked in plain Python without a tensor.

The joint has a unit for each pair of last label and frame's number, which is open where both are
the case; its output layer is the table. What the network makes of an open unit is asked of it, so
that logits, and with them ties, are the same here to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
import numpy.typing as npt
import torch
from boost_walk import BoostWalk
from torch import Tensor

from earshot.decoder_kernels.transducer.label_loop import NO_BLANK, LabelLoop
from earshot.decoder_kernels.transducer.loop_weights import Linear, LoopWeights

DURATIONS = ((), (), (0, 1, 2), (0, 1, 4, 30), (2, 0, 3), (1, 50), (0,))
OPEN = 80.0
"""At which a gate is open, or with a minus shut: what it lets through is lost in any sum."""

SPOILT = -1
"""The number of a frame that is not finite."""

NO_BOOSTS = BoostWalk(None)


@dataclass(frozen=True)
class RandomTable:
    """Logits by last label and frame's number.

    labels: `(V + 1, N, V + 1)`, the blank's last. durations: `(V + 1, N, n)`.
    """

    labels: npt.NDArray[np.float32]
    durations: npt.NDArray[np.float32]
    duration_frames: tuple[int, ...]
    max_symbols: int

    @property
    def blank(self) -> int:
        """The unit that is no label."""
        return len(self.labels) - 1

    @property
    def numbers(self) -> int:
        """N."""
        return int(self.labels.shape[1])


def random_table(dice: Random) -> RandomTable:
    """Half of them with few different logits, so that many are the same."""
    units, numbers, frames = dice.choice((2, 3, 6, 21)), dice.choice((2, 5)), dice.choice(DURATIONS)
    arrays = np.random.default_rng(dice.getrandbits(64))
    shapes = (units, numbers, units), (units, numbers, len(frames))
    few = dice.random() < 0.5
    labels, durations = (_logits(arrays, shape, few) for shape in shapes)
    labels[..., -1] += np.float32(dice.choice((0.0, 0.5, 1.0, 2.0)))  # some hear more blanks
    return RandomTable(labels, durations, frames, dice.randint(1, 4))


def _logits(
    arrays: np.random.Generator, shape: tuple[int, ...], few: bool
) -> npt.NDArray[np.float32]:
    values = arrays.normal(0.0, 2.0, shape)
    found = np.round(values) / 2 + 0.25 if few else values  # beside a zero, shut gates would count
    return found.astype(np.float32)


def weights_of(table: RandomTable) -> LoopWeights:
    """A network that is this table."""
    units, numbers = table.blank + 1, table.numbers
    pairs = units * numbers
    meet = torch.eye(numbers).mul(2.0).repeat(units, 1)
    last = torch.eye(units).repeat_interleave(numbers, 0)
    return LoopWeights(
        encoder=(meet, torch.full((pairs,), -2.0)),
        predictor=(last, torch.zeros(pairs)),
        labels=_output(table.labels),
        durations=_output(table.durations),
        embedding=torch.eye(units),
        lstm=[(_takes_in(units), (torch.zeros(4 * units, units), torch.zeros(4 * units)))],
        activation="relu",
        duration_frames=table.duration_frames,
        max_symbols=table.max_symbols,
    )


def _output(logits: npt.NDArray[np.float32]) -> Linear:
    columns = logits.shape[-1]
    flat = torch.from_numpy(logits).reshape(logits.shape[0] * logits.shape[1], columns)
    return flat.T.contiguous(), torch.zeros(columns)


def _takes_in(units: int) -> Linear:
    """Gates that take a label in, forget the one before, and put out."""
    weight, bias = torch.zeros(4, units, units), torch.zeros(4, units)
    weight[2] = torch.eye(units)
    bias[0], bias[1], bias[3] = OPEN, -OPEN, OPEN
    return weight.view(4 * units, units), bias.view(4 * units)


def frames_of(table: RandomTable, numbers: Sequence[int]) -> Tensor:
    """Encoder frames `(T, N)` of these numbers."""
    frames = torch.zeros(len(numbers), table.numbers)
    for frame, number in zip(frames, numbers, strict=True):
        frame[number] = 1.0 if number != SPOILT else math.nan
    return frames


@dataclass(frozen=True)
class Remembered:
    """What a stream remembers between two chunks; see `LoopMemory`.

    passing: log-probability of the blank that made the last step.
    """

    last: int
    ahead: int = 0
    boost_state: int = 0
    passing: float = NO_BLANK

    @property
    def unboosted(self) -> Remembered:
        """The same with no phrase under way."""
        return replace(self, boost_state=0)


@dataclass
class Found:
    """See `WalkedChunk`. blank: what was heard last."""

    after: Remembered
    tokens: list[int] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    blank_log_probs: list[float] = field(default_factory=list)
    blank: bool = False

    def say(self, token: int, frame: int, duration: int) -> None:
        """Add a label."""
        self.tokens.append(token)
        self.frames.append(frame)
        self.durations.append(duration)


class TableOracle:
    """Frame after frame, one answer of the joint at a time (Bataev 2024, Algorithm 1).

    logits: of labels and the blank by last label and frame's number.
    """

    def __init__(self, table: RandomTable, loop: LabelLoop) -> None:
        pairs = table.labels.shape[0] * table.numbers
        opened = loop.begin().numbers[:pairs].numpy().max()  # what a unit is that is open
        self._table = table
        self.logits: list[list[list[float]]] = (table.labels * opened).tolist()
        self._places = table.durations.argmax(-1) if table.duration_frames else None

    def begin(self) -> Remembered:
        """Nothing was said."""
        return Remembered(self._table.blank)

    def walk(
        self, numbers: Sequence[int], before: Remembered, boosts: BoostWalk = NO_BOOSTS
    ) -> Found | None:
        """The labels of frames of these numbers; None where one that is heard is not finite."""
        length, at, in_frame = len(numbers), before.ahead, 0
        found = Found(replace(before, ahead=0), blank_log_probs=[NO_BLANK] * length)
        _pass(found, 0, at, before.passing)
        while at < length:
            if numbers[at] == SPOILT:
                return None
            advance = self._hear(found, at, numbers[at], boosts)
            in_frame += 1
            if advance == 0 and (found.blank or in_frame >= self._table.max_symbols):
                advance = 1
            if advance:
                _pass(found, at, advance, found.after.passing)
                at, in_frame = at + advance, 0
        found.after = replace(found.after, ahead=at - length)
        return found

    def _hear(self, found: Found, at: int, number: int, boosts: BoostWalk) -> int:
        """Take what a frame says; gives by how many frames it advances."""
        now, logits = found.after, self.logits[found.after.last][number]
        best, advance = max(logits[:-1]), self._advance(now.last, number)
        found.blank = best < logits[-1]
        if found.blank:
            found.after = replace(now, passing=logits[-1] - _log_sum(logits))
            return advance
        token = logits.index(best) if boosts is NO_BOOSTS else _boosted(logits, boosts, now)
        found.say(token, at, 1 if self._places is None else advance)
        found.log_probs.append(logits[token] - _log_sum(logits))
        state = boosts.step(now.boost_state, token)
        found.after = replace(now, last=token, boost_state=state, passing=NO_BLANK)
        return advance

    def _advance(self, last: int, number: int) -> int:
        if self._places is None:
            return 0
        return self._table.duration_frames[int(self._places[last, number])]


def _pass(found: Found, at: int, frames: int, blank: float) -> None:
    end = min(at + frames, len(found.blank_log_probs))
    found.blank_log_probs[at:end] = [blank] * (end - at)


def _boosted(logits: Sequence[float], boosts: BoostWalk, now: Remembered) -> int:
    """The first of the likeliest with the bonus that each earns."""
    after = [boosts.step(now.boost_state, token) for token in range(len(logits) - 1)]
    bonuses = [boosts.completed(state) + boosts.pending(state) for state in after]
    scores = [logit + bonus for logit, bonus in zip(logits[:-1], bonuses, strict=True)]
    return scores.index(max(scores))


def _log_sum(logits: Sequence[float]) -> float:
    most = max(logits)
    return most + math.log(sum(math.exp(each - most) for each in logits))
