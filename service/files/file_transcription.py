"""One file through one stream, from the first block to the last final."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Protocol

from earshot.service.core.engine_port import EnginePort, StreamPort
from earshot.service.transcript import Transcript
from earshot.streaming.errors import BacklogFull, StreamClosed
from earshot.streaming.events import (
    Closed,
    Event,
    Failed,
    Final,
    LimitedBoost,
    RoomAvailable,
    UnboostablePhrase,
)
from earshot.streaming.requests import FINISH, Cancel, Push, pushes
from earshot.streaming.samples import Samples
from earshot.streaming.stream_config import StreamConfig, StreamPriority
from earshot.streaming.stream_name import NAMELESS, StreamName


class AudioSource(Protocol):
    """Audio of a known or unknown length, in blocks of mono samples at the model's rate."""

    @property
    def duration_s(self) -> float | None:
        """Seconds of audio, if the source says."""

    def blocks(self) -> Iterator[Samples]:
        """Yield the audio once, from the start."""


class FileTranscription:
    """Feeds a file to the engine as fast as its backlog takes it; `run` blocks: give it a thread.

    on_event is called on the engine's thread with each event and must not block.
    """

    def __init__(
        self,
        engine: EnginePort,
        audio: AudioSource,
        config: StreamConfig,
        on_event: Callable[[Event], None] | None = None,
        name: StreamName = NAMELESS,
    ) -> None:
        self.audio = audio
        self._engine = engine
        self._config = config
        self._on_event = on_event
        self._name = name
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._room = threading.Event()
        self._stream: StreamPort | None = None
        self._cancelled_by: Exception | None = None

    @property
    def done_s(self) -> float:
        """Seconds of audio decoded so far."""
        return 0.0 if self._stream is None else self._stream.decoded_s

    def run(self) -> Transcript:
        """Return the transcript.

        Raises:
            ServiceError: the file is damaged or too long, or what `cancel` was given.
            StreamingError: no stream could be opened, or decoding failed.
        """
        self._stream = self._engine.open(self._config, self._sink, StreamPriority.FILE, self._name)
        try:
            self._feed(self._stream)
            return self._collect()
        finally:
            self._stream.ask(Cancel())

    def cancel(self, reason: Exception) -> None:
        """Make `run` raise ``reason`` soon; from any thread."""
        self._cancelled_by = reason
        self._room.set()
        if self._stream is not None:
            self._stream.ask(Cancel())

    def _sink(self, event: Event) -> None:
        if isinstance(event, RoomAvailable):
            self._room.set()
            return
        self._events.put(event)
        if isinstance(event, Closed | Failed):
            self._room.set()
        if self._on_event is not None:
            self._on_event(event)

    def _feed(self, stream: StreamPort) -> None:
        try:
            for block in self.audio.blocks():
                for push in pushes(block):
                    self._ask(stream, push)
            stream.ask(FINISH)
        except StreamClosed:
            self._check_cancelled()  # otherwise its Failed event says why

    def _ask(self, stream: StreamPort, push: Push) -> None:
        while True:
            self._check_cancelled()
            self._room.clear()
            try:
                stream.ask(push)
            except BacklogFull:
                self._room.wait()
            else:
                return

    def _collect(self) -> Transcript:
        transcript = Transcript()
        while True:
            event = self._events.get()
            match event:
                case Final():
                    transcript.add(event)
                case UnboostablePhrase() | LimitedBoost():
                    transcript.boost_warnings.append(event)
                case Closed(duration_s):
                    self._check_cancelled()
                    transcript.duration_s = duration_s
                    return transcript
                case Failed(error):
                    self._check_cancelled()
                    raise error

    def _check_cancelled(self) -> None:
        if self._cancelled_by is not None:
            raise self._cancelled_by
