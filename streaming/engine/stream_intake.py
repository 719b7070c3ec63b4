"""The engine's end of one stream's requests."""

from collections.abc import Callable

from earshot.streaming.boosting.boost_compiler import BoostCompiler
from earshot.streaming.engine.registry import Registry
from earshot.streaming.entities import Entities
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.language_models.lm_opener import LmOpener
from earshot.streaming.lm_mix import LmChoice, LmMix
from earshot.streaming.requests import Configure, Request
from earshot.streaming.serial_thread import failed
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.inbox import Reconfigure
from earshot.streaming.stream_config import StreamConfig

MOST_OPENING = 2
"""Changes of language models that wait in one stream: what they name is open meanwhile."""


class StreamIntake:
    """Puts requests that were let in (`Backlog`) into the stream's inbox, and wakes the engine."""

    def __init__(
        self,
        active: ActiveStream,
        compiler: BoostCompiler,
        opener: LmOpener,
        registry: Registry,
        check: Callable[[StreamConfig], object],
        check_lm: Callable[[LmChoice | None, Entities], None],
    ) -> None:
        """check: raises InvalidStreamConfig for a config that the engine will refuse.

        check_lm: does so for language models that are not there, and classes that they lack.
        """
        self._active = active
        self._config = active.config
        self._compiler = compiler
        self._opener = opener
        self._registry = registry
        self._check = check
        self._check_lm = check_lm

    def take(self, request: Request) -> None:
        """Take a request, from any thread. Raises EngineStopped."""
        with self._registry.lock:
            item = self._reconfigure(request) if isinstance(request, Configure) else request
            if self._active.inbox.put(item):
                self._registry.call(self._active)
            elif isinstance(item, Reconfigure):
                item.let_go()  # the stream is over
        if isinstance(item, Reconfigure):
            for awaited in (item.boosts, item.lms):
                awaited.add_done_callback(lambda _: self._registry.call(self._active))

    def _reconfigure(self, request: Configure) -> Reconfigure:
        """Have boosts compiled and models opened; the next request builds on this one if it can."""
        asked = request.applied_to(self._config)
        try:
            self._check(asked)
            self._check_models(request.lm, asked.graph.entities)
        except InvalidStreamConfig as error:  # the engine says so in its turn
            return Reconfigure(request, failed(error))
        compiling = self._compiler.submit(request.boosts, asked)
        self._config = asked
        return Reconfigure(request, compiling, self._opener.submit(request.lm))

    def _check_models(self, asked: LmChoice | None, entities: Entities) -> None:
        """Raises InvalidStreamConfig for models that a change cannot have."""
        if isinstance(asked, LmMix) and self._active.inbox.opening >= MOST_OPENING:
            raise InvalidStreamConfig(f"lm={asked}: {MOST_OPENING} changes of models wait")
        before = self._config.graph
        # Its own it holds, whether the files are there or not.
        if asked != before.lm or (entities and entities != before.entities):
            self._check_lm(asked, entities)
