"""The engine: one thread that owns the model and decodes every stream."""

import threading
from collections.abc import Callable
from dataclasses import asdict

import torch

from models.checkpoint import LoadedModel
from streaming.active_stream import ActiveStream
from streaming.boost_compiler import BoostCompiler
from streaming.boosting import compile_boosts
from streaming.engine_config import EngineConfig, engine_threads
from streaming.engine_loop import EngineLoop
from streaming.engine_stats import Counters, EngineStats, Observer
from streaming.errors import EngineFull, EngineStopped, StreamingError
from streaming.events import Event
from streaming.inbox import Inbox
from streaming.model_description import describe_model
from streaming.registry import Registry
from streaming.stream import Stream
from streaming.stream_config import StreamConfig, StreamPriority
from streaming.two_pass import TwoPass


class Engine:
    """Decodes streams from `start` to `stop`. Every method may be called from any thread.

    Raises NotStreamable for a model that was not trained in chunks.
    """

    def __init__(
        self, loaded: LoadedModel, config: EngineConfig, observer: Observer | None = None
    ) -> None:
        self._config = config
        self._counters = Counters()
        self._registry = Registry(config.max_streams)
        self._compiler = BoostCompiler(
            lambda boosts, stream: compile_boosts(boosts, stream.mode, loaded.tokenizer)
        )
        decoder = TwoPass(loaded, config)
        self._settings = decoder.settings
        self.model = describe_model(loaded, decoder.settings)
        self._loop = EngineLoop(decoder, self._registry, config, self._counters, observer)
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
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @property
    def running(self) -> bool:
        """Whether streams can be opened and are decoded."""
        return self._thread.is_alive() and not self._registry.stopping

    def can_open(self) -> bool:
        """Whether `open` would find a slot now."""
        return self.running and self._registry.has_room

    def open(
        self,
        config: StreamConfig,
        sink: Callable[[Event], None],
        priority: StreamPriority = StreamPriority.LIVE,
    ) -> Stream:
        """Open a stream. `sink` gets its events on the engine thread and must not block.

        Raises EngineFull and EngineStopped.
        """
        if not self.running:
            raise EngineStopped("the engine is not running")
        if not self._registry.has_room:  # before any work for a caller who is refused
            raise EngineFull(f"all {self._config.max_streams} slots are taken")
        boosts = self._compiler.submit(config.boosts, config)
        inbox = Inbox(int(self._config.max_backlog_s * self._settings.sample_rate_hz))
        try:
            active = self._registry.admit(
                lambda slot: ActiveStream(
                    slot, config, priority, sink, inbox, boosts, self._settings
                )
            )
        except StreamingError:
            boosts.cancel()
            raise
        boosts.add_done_callback(lambda _: self._registry.call(active))
        return Stream(active, self._compiler, self._registry)

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
            **asdict(self._counters),
        )

    def _run(self) -> None:
        torch.set_num_threads(engine_threads(self._config))
        with torch.inference_mode():
            self._loop.run()
