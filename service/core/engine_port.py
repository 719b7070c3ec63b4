"""What the service asks of an engine; `streaming/engine` provides it, tests script it."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from earshot.streaming.engine.engine_stats import EngineStats
from earshot.streaming.engine.model_description import ModelDescription
from earshot.streaming.events import Event
from earshot.streaming.language_models.lm_description import LmDescription
from earshot.streaming.requests import Request
from earshot.streaming.stream_config import StreamConfig, StreamPriority
from earshot.streaming.stream_name import NAMELESS, StreamName

Sink: TypeAlias = Callable[[Event], None]
"""Called on the engine's thread with each event of a stream; it must not block."""


class StreamPort(Protocol):
    """One stream's decoding; every method may be called from any thread."""

    @property
    def decoded_s(self) -> float:
        """Seconds of audio decoded so far."""

    @property
    def engine_pid(self) -> int | None:
        """The process that decodes it."""

    def ask(self, request: Request) -> None:
        """Ask for something, in its turn; `Cancel` at once, and as often as one likes.

        Raises BacklogFull (nothing was asked, `RoomAvailable` follows), InvalidAudio, StreamClosed.
        """


class EnginePort(Protocol):
    """Where streams come from."""

    @property
    def sample_rate_hz(self) -> int:
        """The rate that its model listens at, and its streams take."""

    @property
    def running(self) -> bool:
        """Whether it decodes; once it has stopped it never does again."""

    @property
    def ready(self) -> bool:
        """Whether it takes streams and decodes them in time; it may do so again later."""

    def language_models(self) -> Sequence[LmDescription]:
        """The language models that streams may name now; to read new ones takes a while."""

    def can_open(self) -> bool:
        """Say whether a stream could be opened now."""

    def open(
        self,
        config: StreamConfig,
        sink: Sink,
        priority: StreamPriority = StreamPriority.LIVE,
        name: StreamName = NAMELESS,
    ) -> StreamPort:
        """Open a stream or raise EngineFull or EngineStopped."""


class EngineHost(EnginePort, Protocol):
    """An engine, or several behind one face, in the hands of whoever runs it."""

    @property
    def model(self) -> ModelDescription:
        """The model that it decodes with."""

    @property
    def stats(self) -> EngineStats:
        """A snapshot of its gauges and counters."""

    def start(self) -> None:
        """Start decoding; once."""

    def stop(self, timeout_s: float) -> bool:
        """End after the current step; returns whether it ended in time."""
