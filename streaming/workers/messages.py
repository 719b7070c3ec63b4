"""The messages between a pool and its workers, pickled, over one pipe for each worker.

A stream's number is the pool's; its events come back in the order in which the engine made them.
"""

from dataclasses import dataclass
from typing import TypeAlias

from earshot.streaming.engine.engine_stats import StepReport
from earshot.streaming.events import Event
from earshot.streaming.requests import Request
from earshot.streaming.stream_config import StreamConfig, StreamPriority
from earshot.streaming.stream_name import StreamName


@dataclass(frozen=True)
class OpenStream:
    """See `Engine.open`. place: where the stream's decoded samples are counted."""

    number: int
    place: int
    config: StreamConfig
    priority: StreamPriority
    name: StreamName


@dataclass(frozen=True)
class Stop:
    """End the engine after its current step, and the process with it."""


ToStream: TypeAlias = tuple[int, Request]
"""A request that was let in, and the number of its stream."""

ToWorker: TypeAlias = OpenStream | ToStream | Stop
"""Sent as lists: all that has come up since the last one."""


@dataclass(frozen=True)
class Turn:
    """A turn of the engine's loop: events by the numbers of their streams, and its step if any."""

    events: tuple[tuple[int, Event], ...]
    step: StepReport | None = None
