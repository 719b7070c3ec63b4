"""A batch of utterances as an encoder leaves it, and what a greedy decoder finds in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """Encoder frames (B, T, D), of which the first `lengths[i]` are utterance i's.

    rate_hz: frames a second.
    """

    frames: Tensor
    lengths: list[int]
    rate_hz: float

    @property
    def audio_s(self) -> float:
        """Seconds of all utterances together."""
        return sum(self.lengths) / self.rate_hz

    def first(self, utterances: int) -> Batch:
        """So many of its utterances."""
        return Batch(self.frames[:utterances], self.lengths[:utterances], self.rate_hz)

    def utterances(self) -> list[Tensor]:
        """The frames (T_i, D) of each."""
        return [frames[:n] for frames, n in zip(self.frames, self.lengths, strict=True)]


@dataclass(frozen=True)
class Labels:
    """Labels of one utterance in order, and the frame that each was found in."""

    tokens: list[int] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)

    def add(self, token: int, frame: int) -> None:
        """One more, at the end."""
        self.tokens.append(token)
        self.frames.append(frame)


Decode = Callable[[Batch], list[Labels]]


def differing(found: Sequence[Labels], expected: Sequence[Labels]) -> float:
    """The share of utterances whose labels or frames are others."""
    pairs = list(zip(found, expected, strict=True))
    return sum(ours != theirs for ours, theirs in pairs) / len(pairs)
