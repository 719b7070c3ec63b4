"""Where another engine can take a stream up: every recogniser has a rule of its own.

U2 forgets a segment where it ends, so a stream is heard on from its segment's seam, by its samples
alone. A stream that goes on is heard on from what its encoder and decoder remember there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import torch
from torch import Tensor

from earshot.streaming.stream.rest import Rest
from earshot.streaming.utterance import Utterance

HOST = torch.device("cpu")
"""Where all tensors of a replay point are: another engine may have no device, or another."""


class Tags(Protocol):
    """What a tagger keeps of a stream's words."""

    @property
    def carried(self) -> Self:
        """The part of them that later segments see; it is never changed."""


@dataclass(frozen=True, eq=False)
class TrackPoint:
    """A place in a `FeatureTrack`, which gives `start` and `origin`.

    sample: of the stream, the first that the track has to be given. features `(N, F)`: those of the
    frames from `first_frame` on that are computed already.
    """

    start: int
    origin: int
    sample: int
    first_frame: int
    features: Tensor


@dataclass(frozen=True, eq=False)
class ReplayPoint:
    """A stream just behind a final. It can be pickled.

    segment_frame: the track's frame at which the segment starts. utterance, rest, tags: those of
    the stream. memory: what else its recogniser remembers; None where the samples are enough.
    """

    track: TrackPoint
    segment_frame: int
    utterance: Utterance
    rest: Rest | None = None
    memory: object = None
    tags: Tags | None = None

    @property
    def sample(self) -> int:
        """The first sample, counted from the stream's start, that is needed again."""
        return self.track.sample
