"""The requests that a stream takes, one vocabulary from the wire protocol to the engine.

Whoever stands between (session, feed, pool, worker) passes them on unopened. `Backlog` decides
whether there is room for one; the inbox and the engine loop do what it asks.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.lm_mix import LmChoice
from earshot.streaming.samples import Samples
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig
from earshot.streaming.weights import Weights

PUSH_SAMPLES = 4_000
"""Half of the least backlog, 2 s, at the lowest rate, 4 kHz: a push of so many always fits once."""


@dataclass(frozen=True, eq=False)
class Push:
    """Decode samples `(N,)`; they are the stream's from now on, and must not be changed."""

    samples: Samples

    def __reduce__(self) -> tuple[Callable[[bytes], "Push"], tuple[bytes]]:
        """Pickle the bytes: a tenth of what it takes to pickle an array."""
        return _push_of, (self.samples.tobytes(),)


def _push_of(samples: bytes) -> Push:
    return Push(np.frombuffer(samples, np.float32))


@dataclass(frozen=True)
class Flush:
    """Decode everything before this to its end: a final follows. `last`: no audio follows."""

    last: bool

    @property
    def cause(self) -> Literal["end", "finalize"]:
        """The cause of the final."""
        return "end" if self.last else "finalize"


FINALIZE = Flush(last=False)
FINISH = Flush(last=True)


@dataclass(frozen=True)
class Configure:
    """Replace the boosts from this segment on, and what else of the config is not None.

    An option that is None stays as the request before has set it, unless that was refused. An
    endpoint holds from the next pause on.
    `Configured` follows, or `NotConfigured`.
    """

    boosts: tuple[Boost, ...]
    graph: GraphOptions | None = None
    weights: Weights | None = None
    chunk_ms: float | None = None
    endpoint: EndpointConfig | None = None

    @property
    def lm(self) -> LmChoice | None:
        """The language models that it names; None where it leaves them alone."""
        return None if self.graph is None else self.graph.lm

    def applied_to(self, now: StreamConfig) -> StreamConfig:
        """The config of a stream that has this one."""
        return replace(
            now,
            boosts=self.boosts,
            graph=now.graph if self.graph is None else self.graph,
            weights=now.weights if self.weights is None else self.weights,
            chunk_ms=now.chunk_ms if self.chunk_ms is None else self.chunk_ms,
            endpoint=now.endpoint if self.endpoint is None else self.endpoint,
        )


@dataclass(frozen=True)
class Describe:
    """Say how the stream stands, without what was said in it: `Described` follows."""


@dataclass(frozen=True)
class Cancel:
    """End the stream without its last results; only `Closed` follows."""


@dataclass(frozen=True)
class AwaitRoom:
    """Say `RoomAvailable` once at least half of the backlog is free: a request had no room."""


InTurn: TypeAlias = Flush | Describe
"""Requests that the engine loop does in their turn, as they are. A new one has its place here."""

Request: TypeAlias = Push | InTurn | Configure | Cancel | AwaitRoom


def pushes(samples: Samples) -> Iterator[Push]:
    """Audio of any length in pushes that fit into any backlog."""
    for start in range(0, len(samples), PUSH_SAMPLES):
        yield Push(samples[start : start + PUSH_SAMPLES])
