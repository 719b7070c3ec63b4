"""What a pool and its workers say to each other, pickled, over one pipe for each worker.

A stream's number is the pool's; its events come back in the order in which the engine made them.
"""

from dataclasses import dataclass
from typing import TypeAlias

from earshot.streaming.engine.engine_stats import EngineStats, StepReport
from earshot.streaming.events import Event
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.stream.features import Samples
from earshot.streaming.stream_config import Boost, StreamConfig, StreamPriority
from earshot.streaming.weights import Weights


@dataclass(frozen=True)
class OpenStream:
    """See `Engine.open`. place: where the stream's decoded samples are counted."""

    number: int
    place: int
    config: StreamConfig
    priority: StreamPriority


@dataclass(frozen=True)
class PushSamples:
    """See `Stream.push`; there is room for them."""

    number: int
    samples: Samples


@dataclass(frozen=True)
class Finalize:
    """See `Stream.finalize`."""

    number: int


@dataclass(frozen=True)
class Reconfigure:
    """See `Stream.configure`."""

    number: int
    boosts: tuple[Boost, ...]
    graph: GraphOptions | None
    weights: Weights | None


@dataclass(frozen=True)
class Finish:
    """See `Stream.finish`."""

    number: int


@dataclass(frozen=True)
class Cancel:
    """See `Stream.cancel`."""

    number: int


@dataclass(frozen=True)
class AwaitRoom:
    """See `Stream.await_room`."""

    number: int


@dataclass(frozen=True)
class Stop:
    """End the engine after its current step, and the process with it."""


StreamRequest: TypeAlias = PushSamples | Finalize | Reconfigure | Finish | Cancel | AwaitRoom
Request: TypeAlias = OpenStream | StreamRequest | Stop
"""Sent as lists: all that has come up since the last one."""


@dataclass(frozen=True)
class Emitted:
    """An event of a stream."""

    number: int
    event: Event


@dataclass(frozen=True)
class Stepped:
    """A step of the engine, and how it stands since."""

    report: StepReport
    stats: EngineStats


Reply: TypeAlias = Emitted | Stepped
