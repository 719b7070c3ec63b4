"""The engine: one thread that owns the model and decodes every stream."""

import logging
import os
import threading
from collections.abc import Callable

import torch

from earshot.streaming.boosting.boost_compiler import BoostCompiler
from earshot.streaming.engine.engine_loop import EngineLoop
from earshot.streaming.engine.engine_stats import Counters, EngineStats, Observer
from earshot.streaming.engine.isolation import failure_of
from earshot.streaming.engine.pulse import Pulse, Unwatched
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine.registry import Registry
from earshot.streaming.engine.stream import Stream
from earshot.streaming.engine.stream_intake import StreamIntake
from earshot.streaming.engine_config import EngineConfig, engine_threads
from earshot.streaming.errors import (
    EngineFull,
    EngineStopped,
    StreamingError,
)
from earshot.streaming.events import Event
from earshot.streaming.language_models.held_lms import let_go
from earshot.streaming.language_models.lm_description import LmDescription
from earshot.streaming.language_models.lm_opener import LmOpener
from earshot.streaming.language_models.open_lms import OpenLms
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.backlog import Backlog
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.sample_count import SampleCount
from earshot.streaming.stream_config import StreamConfig, StreamPriority
from earshot.streaming.stream_name import NAMELESS, StreamName

log = logging.getLogger(__name__)


class Engine:
    """Decodes streams with one recogniser, from `start` to `stop`.

    Every method may be called from any thread.
    """

    def __init__(
        self,
        recognizer: Recognizer,
        config: EngineConfig,
        observer: Observer | None = None,
        pulse: Pulse | None = None,
        turned: Callable[[], None] | None = None,
    ) -> None:
        """pulse: who hears that the engine works; without it nobody does.

        turned: called on the engine thread when the events of a turn have been emitted.
        """
        self._config = config
        self.counters = Counters()
        self._registry = Registry(config.max_streams)
        self._recognizer = recognizer
        self._compiler = BoostCompiler(recognizer.compile)
        self._settings = recognizer.settings
        self.model = recognizer.model
        self.rules = recognizer.rules
        self._lms = OpenLms.of(
            config.lm_dir, recognizer.graph, config.graph_search, recognizer.device
        )
        self._turned = turned or (lambda: None)
        self._opener = LmOpener(self._lms.hold, self._lms.hold_open)
        self._loop = EngineLoop(
            recognizer,
            self._registry,
            config,
            self.counters,
            observer,
            pulse or Unwatched(),
            self._turn,
        )
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Start the engine thread; once."""
        self._thread.start()

    def stop(self, timeout_s: float) -> bool:
        """End the thread after its current step; open streams get Failed(EngineStopped).

        Returns whether the thread ended in time.
        """
        self._registry.stop()
        self._compiler.stop()
        self._opener.stop()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @property
    def running(self) -> bool:
        """Whether streams can be opened and are decoded."""
        return self._thread.is_alive() and not self._registry.stopping

    @property
    def ready(self) -> bool:
        """The same: nobody watches whether it is late."""
        return self.running

    def can_open(self) -> bool:
        """Whether `open` would find a slot now."""
        return self.running and self._registry.has_room

    def open(
        self,
        config: StreamConfig,
        sink: Callable[[Event], None],
        priority: StreamPriority = StreamPriority.LIVE,
        name: StreamName = NAMELESS,
    ) -> Stream:
        """Open a stream. `sink` gets its events on the engine thread and must not block.

        Raises EngineFull and EngineStopped, and InvalidStreamConfig for a config that this engine
        cannot serve.
        """
        decoded = SampleCount()
        backlog = Backlog(self._max_backlog, self._settings.sample_rate_hz, decoded)
        intake = self.admit(config, backlog.noting(sink), priority, name, decoded)
        return Stream(backlog, intake.take, os.getpid())

    def admit(
        self,
        config: StreamConfig,
        sink: Callable[[Event], None],
        priority: StreamPriority,
        name: StreamName,
        decoded: SampleCount,
    ) -> StreamIntake:
        """Open a stream whose backlog is kept elsewhere, by what `decoded` says; see `open`."""
        if not self.running:
            raise EngineStopped("the engine is not running")
        if not self._registry.has_room:  # before any work for a caller who is refused
            raise EngineFull(f"all {self._config.max_streams} slots are taken")
        search = self.rules.choose_search(config)
        self._lms.check(config.graph.lm, config.graph.entities)
        boosts = self._compiler.submit(config.boosts, config)
        lms = self._opener.submit(config.graph.lm)
        inbox = Inbox(self._max_backlog, decoded)
        try:
            active = self._registry.admit(
                lambda slot: ActiveStream(
                    slot,
                    config,
                    search,
                    priority,
                    sink,
                    inbox,
                    boosts,
                    self._settings,
                    name,
                    asked_lms=lms,
                )
            )
        except StreamingError:
            boosts.cancel()
            let_go(lms)
            raise
        for awaited in (boosts, lms):
            awaited.add_done_callback(lambda _: self._registry.call(active))
        choose, check_lm = self.rules.choose_search, self._lms.check
        return StreamIntake(active, self._compiler, self._opener, self._registry, choose, check_lm)

    def language_models(self) -> list[LmDescription]:
        """The language models that streams may name now; new ones are read, which takes a while."""
        return self._lms.descriptions()

    @property
    def _max_backlog(self) -> int:
        return self._settings.backlog_samples(self._config.max_backlog_s)

    @property
    def sample_rate_hz(self) -> int:
        """The rate of the samples that streams take: the model's."""
        return self._settings.sample_rate_hz

    @property
    def stats(self) -> EngineStats:
        """A snapshot."""
        streams = self._registry.streams
        live = sum(stream.priority is StreamPriority.LIVE for stream in streams)
        backlog = sum(stream.inbox.backlog for stream in streams)
        return EngineStats(
            running=self.running,
            max_streams=self._config.max_streams,
            live_streams=live,
            file_streams=len(streams) - live,
            backlog_s=backlog / self._settings.sample_rate_hz,
            **(vars(self.counters) | {"open_lms": self._lms.count}),
        )

    def _turn(self) -> None:
        """Tell those who read the counters in another process."""
        self.counters.open_lms = self._lms.count
        self._turned()

    def _run(self) -> None:
        error = failure_of(self._decode)
        if error is not None:
            log.critical("the engine ended by itself; it decodes no more", exc_info=error)

    def _decode(self) -> None:
        torch.set_num_threads(engine_threads(self._config))
        with torch.inference_mode():
            self._loop.run()
