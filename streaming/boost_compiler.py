"""Boosts become tables on a thread of their own: neither callers nor the engine wait for it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias

from streaming.boosting import NO_BOOSTS, CompiledBoosts
from streaming.errors import EngineStopped
from streaming.stream_config import Boost, StreamConfig

Compile: TypeAlias = Callable[[Sequence[Boost], StreamConfig], CompiledBoosts]


class BoostCompiler:
    """Does one request after the other, in the order of their coming."""

    def __init__(self, compile_boosts: Compile) -> None:
        self._compile = compile_boosts
        self._thread = ThreadPoolExecutor(1, "boosts")

    def submit(self, boosts: Sequence[Boost], config: StreamConfig) -> Future[CompiledBoosts]:
        """The boosts to be of a stream with this config. Raises EngineStopped after `stop`."""
        if not boosts:
            nothing: Future[CompiledBoosts] = Future()
            nothing.set_result(NO_BOOSTS)
            return nothing
        try:
            return self._thread.submit(self._compile, tuple(boosts), config)
        except RuntimeError as error:  # the executor has no error of its own for that
            raise EngineStopped("the engine is not running") from error

    def stop(self) -> None:
        """Begin no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
