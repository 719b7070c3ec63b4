"""An engine that says what it was told to, and decodes in the caller's thread."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from earshot.streaming.errors import (
    BacklogFull,
    EngineFull,
    EngineStopped,
    InvalidAudio,
    StreamClosed,
    StreamingError,
)
from earshot.streaming.events import (
    Alternative,
    Closed,
    Configured,
    Described,
    Event,
    Failed,
    Final,
    FinalCause,
    NotConfigured,
    Partial,
    RoomAvailable,
    UnboostablePhrase,
    Word,
)
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.language_models.lm_description import LmDescription
from earshot.streaming.requests import Cancel, Configure, Describe, Flush, Push, Request
from earshot.streaming.samples import Samples
from earshot.streaming.stream_config import Boost, StreamConfig, StreamPriority
from earshot.streaming.stream_name import NAMELESS, StreamName
from earshot.streaming.weights import Weights

RATE = 16_000


@dataclass
class ScriptedStream:
    """Hears one word per half second, named for how loud that half second is.

    So what it says depends on its own audio alone, and any mix-up of streams shows.
    """

    config: StreamConfig
    sink: Callable[[Event], None]
    engine: "ScriptedEngine"
    name: StreamName = NAMELESS
    words: list[Word] = field(default_factory=list)
    rest: Samples = field(default_factory=lambda: np.empty(0, np.float32))
    undecoded: Samples = field(default_factory=lambda: np.empty(0, np.float32))
    start_s: float = 0.0
    boosts: tuple[Boost, ...] = ()
    closed: bool = False
    cancelled: bool = False
    engine_pid: int = 4321

    @property
    def heard_s(self) -> float:
        """Seconds decoded since the last final."""
        return len(self.words) / 2 + len(self.rest) / self.engine.sample_rate_hz

    @property
    def decoded_s(self) -> float:
        return self.start_s + self.heard_s

    def ask(self, request: Request) -> None:
        match request:
            case Push(samples):
                self.push(samples)
            case Flush(last=True):
                self.finish()
            case Flush():
                self.finalize()
            case Configure(boosts, graph, weights):
                self.configure(boosts, graph, weights)
            case Cancel():
                self.cancel()
            case Describe():
                self._require_open()
                if self.engine.answers_describe:
                    self.sink(Described(0, "scripted", 7, 0.0123, {"overflows": 1}))

    def push(self, samples: Samples) -> None:
        self._require_open()
        if not np.isfinite(samples).all():
            raise InvalidAudio("samples must be finite")
        room = self.engine.max_backlog_s * self.engine.sample_rate_hz
        if len(self.undecoded) + len(samples) > room:
            self.engine.signal(self.engine.full)
            raise BacklogFull("no room")
        self.undecoded = np.concatenate([self.undecoded, samples])
        if not self.engine.paused:
            self.decode()

    def decode(self) -> None:
        """Take all that was pushed into account."""
        known, half_s = len(self.words), self.engine.sample_rate_hz // 2
        audio = np.concatenate([self.rest, self.undecoded])
        self.undecoded = self.undecoded[:0]
        whole = len(audio) - len(audio) % half_s
        for half in audio[:whole].reshape(-1, half_s):
            self.words.append(self._word(half))
        self.rest = audio[whole:]
        if self.config.interim_results and len(self.words) > known:
            self.sink(Partial(self.start_s, self.heard_s, self._alternatives(), known))

    def _word(self, half: Samples) -> Word:
        start_s = self.start_s + len(self.words) / 2
        loudness = round(float(np.abs(half).mean()) * 100)
        return Word(f"w{loudness}", start_s, start_s + 0.5, 0.9)

    def finalize(self) -> None:
        self._require_open()
        self._final("finalize")

    def configure(
        self,
        boosts: Sequence[Boost],
        graph: GraphOptions | None = None,
        weights: Weights | None = None,
    ) -> None:
        self._require_open()
        changes = (graph or self.config.graph, weights or self.config.weights)
        if changes != (self.config.graph, self.config.weights):
            self.sink(NotConfigured("there is no graph here"))
            return
        self.boosts = tuple(boosts)
        if self.engine.answers_configure:
            self.sink(Configured(tuple(_unboostable(boosts))))

    def finish(self) -> None:
        self._require_open()
        self.closed = True
        if not self.engine.paused:
            self.end()

    def end(self) -> None:
        """Give the last final."""
        self.decode()
        self._final("end")
        self.engine.streams.remove(self)
        self.sink(Closed(self.start_s))

    def cancel(self) -> None:
        if self in self.engine.streams:
            self.closed = self.cancelled = True
            self.engine.streams.remove(self)
            self.engine.signal(self.engine.freed)
            self.sink(Closed(self.decoded_s))

    def fail(self, error: StreamingError) -> None:
        """Break, as if decoding had raised."""
        self.closed = True
        self.engine.streams.remove(self)
        self.sink(Failed(error))

    def _require_open(self) -> None:
        if self.closed:
            raise StreamClosed("closed")

    def _final(self, cause: FinalCause) -> None:
        alternatives = self._alternatives()
        self.sink(
            Final(
                self.start_s,
                self.heard_s,
                alternatives * self.config.alternatives,
                speech_final=True,
                from_finalize=cause == "finalize",
                cause=cause,
            )
        )
        self.start_s += self.heard_s
        self.words, self.rest = [], self.rest[:0]

    def _alternatives(self) -> tuple[Alternative, ...]:
        words = tuple(self.words)
        return (Alternative(" ".join(word.text for word in words), words, 0.9, -1.0),)


def _unboostable(boosts: Sequence[Boost]) -> Iterator[UnboostablePhrase]:
    for boost in boosts:
        if any(char.isdigit() for char in boost.phrase):
            yield UnboostablePhrase(boost.phrase, "the model writes no digits")
        elif min(boost.phrase) >= "中":
            yield UnboostablePhrase(boost.phrase, "the model has no such letters")


@dataclass
class ScriptedEngine:
    """An engine that decodes in the caller's thread, unless `paused` holds the audio up."""

    max_streams: int = 4
    sample_rate_hz: int = RATE
    max_backlog_s: float = 10.0
    paused: bool = False
    running: bool = True
    late: bool = False
    answers_configure: bool = True
    answers_describe: bool = True
    lms: Sequence[LmDescription] = ()
    loop: asyncio.AbstractEventLoop | None = None
    streams: list[ScriptedStream] = field(default_factory=list)
    opened: list[ScriptedStream] = field(default_factory=list)
    full: asyncio.Event = field(default_factory=asyncio.Event)
    freed: asyncio.Event = field(default_factory=asyncio.Event)

    def signal(self, event: asyncio.Event) -> None:
        """Set an event from whichever thread the stream is used on."""
        if self.loop is not None:
            self.loop.call_soon_threadsafe(event.set)

    @property
    def ready(self) -> bool:
        return self.running and not self.late

    def language_models(self) -> Sequence[LmDescription]:
        return self.lms

    def can_open(self) -> bool:
        return self.ready and len(self.streams) < self.max_streams

    def open(
        self,
        config: StreamConfig,
        sink: Callable[[Event], None],
        priority: StreamPriority = StreamPriority.LIVE,
        name: StreamName = NAMELESS,
    ) -> ScriptedStream:
        if not self.running:
            raise EngineStopped("stopped")
        if not self.can_open():
            raise EngineFull("full")
        stream = ScriptedStream(config, sink, self, name=name, boosts=config.boosts)
        self.streams.append(stream)
        self.opened.append(stream)
        for warning in _unboostable(config.boosts):
            sink(warning)
        return stream

    def die(self) -> None:
        """End as an engine does whose thread has: everybody is told, nobody gets in."""
        self.running = False
        for stream in list(self.streams):
            stream.fail(EngineStopped("the engine was stopped"))

    def resume(self) -> None:
        """Decode what was held up and say that there is room."""
        self.paused = False
        for stream in list(self.streams):
            stream.decode()
            stream.sink(RoomAvailable(self.max_backlog_s))
            if stream.closed:
                stream.end()
