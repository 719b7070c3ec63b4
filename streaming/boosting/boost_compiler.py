"""Boosts become tables on threads of their own: neither callers nor the engine wait for it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeAlias

from earshot.streaming.boosting.boosting import NO_BOOSTS, CompiledBoosts
from earshot.streaming.serial_thread import SerialThread, at_hand
from earshot.streaming.stream_config import Boost, StreamConfig

Compile: TypeAlias = Callable[[Sequence[Boost], StreamConfig], CompiledBoosts]

SHORT_LIST = 100
"""Phrases and entities: a table of so many takes tens of milliseconds, one of a thousand up to a
second."""


class BoostCompiler:
    """One request after the other, in the order of their coming; short lists wait for no long ones.

    Two threads, not one for each request: however many clients ask, the engine keeps its core.
    """

    def __init__(self, compile_boosts: Compile) -> None:
        self._compile = compile_boosts
        self._short = SerialThread("short-boosts")
        self._long = SerialThread("long-boosts")

    def submit(self, boosts: Sequence[Boost], config: StreamConfig) -> Future[CompiledBoosts]:
        """The boosts to be of a stream with this config. Raises EngineStopped after `stop`."""
        members = sum(len(each) for _, each in config.graph.entities.lists)
        if not boosts and not members:
            return at_hand(NO_BOOSTS)
        thread = self._short if len(boosts) + members <= SHORT_LIST else self._long
        return thread.submit(self._compile, tuple(boosts), config)

    def stop(self) -> None:
        """Begin no more."""
        for thread in (self._short, self._long):
            thread.stop()
