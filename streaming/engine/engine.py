"""The engine: one thread that owns the model and decodes every stream."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from earshot.decoder_kernels.errors import GraphMismatch
from earshot.decoder_kernels.graph.graph import Graph
from earshot.language.g2p.pronouncer import pronouncer_of
from earshot.models.checkpoints.checkpoint import LoadedModel
from earshot.models.neural_lm.sentence_scorer import SentenceScorer
from earshot.streaming.boosting.boost_compiler import BoostCompiler
from earshot.streaming.boosting.boosting import CompiledBoosts, compile_boosts
from earshot.streaming.boosting.word_boosting import compile_word_boosts
from earshot.streaming.engine.engine_loop import EngineLoop
from earshot.streaming.engine.engine_stats import Counters, EngineStats, Observer
from earshot.streaming.engine.isolation import failure_of
from earshot.streaming.engine.model_description import describe_model
from earshot.streaming.engine.registry import Registry
from earshot.streaming.engine.stream import Stream
from earshot.streaming.engine_config import EngineConfig, engine_threads
from earshot.streaming.errors import (
    EngineFull,
    EngineStopped,
    InvalidEngineConfig,
    StreamingError,
    UnusableGraph,
)
from earshot.streaming.events import Event
from earshot.streaming.recognizer.two_pass import TwoPass
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream_config import Boost, StreamConfig, StreamPriority
from earshot.streaming.words.graph_fit import fitting_units
from earshot.streaming.words.graph_words import GraphWords

log = logging.getLogger(__name__)


class Engine:
    """Decodes streams from `start` to `stop`. Every method may be called from any thread.

    With a decoding graph, streams are searched in it unless they ask for another search, and a
    neural language model ranks what is found. Raises InvalidEngineConfig for one without a graph,
    NotStreamable for a model that was not trained in chunks, UnusableGraph for a graph of other
    units, KernelError where the sizes asked for make no search.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        config: EngineConfig,
        observer: Observer | None = None,
        graph: Graph | None = None,
        sentences: SentenceScorer | None = None,
    ) -> None:
        if sentences is not None and graph is None:
            raise InvalidEngineConfig("a neural language model needs a graph to rank what it finds")
        graph_search = config.graph_search.of(loaded.model.config.decoding)
        self._config = config = replace(config, graph_search=graph_search)
        self._counters = Counters()
        self._registry = Registry(config.max_streams)
        self._tokenizer = loaded.tokenizer
        self._words = None if graph is None else words_of(graph, loaded)
        self._compiler = BoostCompiler(self._compile)
        self._decoder = TwoPass(loaded, config, self._words, sentences)
        self._settings = self._decoder.settings
        self.model = describe_model(loaded, self._settings, self._words, sentences)
        self._loop = EngineLoop(self._decoder, self._registry, config, self._counters, observer)
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

        Raises EngineFull and EngineStopped, and InvalidStreamConfig for a config that this engine
        cannot serve.
        """
        if not self.running:
            raise EngineStopped("the engine is not running")
        if not self._registry.has_room:  # before any work for a caller who is refused
            raise EngineFull(f"all {self._config.max_streams} slots are taken")
        search = self._decoder.choose_search(config)
        boosts = self._compiler.submit(config.boosts, config)
        inbox = Inbox(int(self._config.max_backlog_s * self._settings.sample_rate_hz))
        try:
            active = self._registry.admit(
                lambda slot: ActiveStream(
                    slot, config, search, priority, sink, inbox, boosts, self._settings
                )
            )
        except StreamingError:
            boosts.cancel()
            raise
        boosts.add_done_callback(lambda _: self._registry.call(active))
        return Stream(active, self._compiler, self._registry, self._decoder.choose_search)

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
            **vars(self._counters),
        )

    def _compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """The boosts for the search that a stream with this config gets."""
        if self._words is None or self._decoder.choose_search(config) != "graph":
            return compile_boosts(boosts, config.mode, self._tokenizer)
        options = self._config.graph_search.options(config.graph)
        return compile_word_boosts(boosts, self._words, options)

    def _run(self) -> None:
        error = failure_of(self._decode)
        if error is not None:
            log.critical("the engine ended by itself; it decodes no more", exc_info=error)

    def _decode(self) -> None:
        torch.set_num_threads(engine_threads(self._config))
        with torch.inference_mode():
            self._loop.run()


def words_of(graph: Graph, loaded: LoadedModel) -> GraphWords:
    """The graph's words for a model. Raises UnusableGraph if it was built for another one.

    And ModelError for a broken lexicon beside the model.
    """
    try:
        units = fitting_units(graph, loaded)
    except GraphMismatch as error:
        raise UnusableGraph(str(error)) from error
    pronouncer = pronouncer_of(loaded) if units == "phones" else None
    return GraphWords(graph, loaded.tokenizer, units=units, pronouncer=pronouncer)
