"""An engine that stops ends its streams, and counts none of them as failed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest
from knock_recognizer import KnockRecognizer, loaded_knocks
from knock_recognizer import sound as knocks

from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import EngineStopped
from earshot.streaming.events import BoostWarning, Failed
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import Boost, StreamConfig

WAIT_S = 60.0
PLAIN, BOOSTED = StreamConfig(), StreamConfig(boosts=(Boost("knock"),))


class Gate:
    """Work that begins, and goes no further until it may."""

    def __init__(self) -> None:
        self._begun, self._open = threading.Semaphore(0), threading.Semaphore(0)

    def pass_through(self) -> None:
        self._begun.release()
        assert self._open.acquire(timeout=WAIT_S)

    def wait(self) -> None:
        assert self._begun.acquire(timeout=WAIT_S)

    def open(self, times: int = 1) -> None:
        self._open.release(times)


class GatedRecognizer(KnockRecognizer):
    """It compiles, begins plain streams and steps only when it may."""

    def __init__(self) -> None:
        super().__init__(loaded_knocks(), EngineConfig(max_streams=4))
        self.compiling, self.beginning, self.stepping = Gate(), Gate(), Gate()

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        self.compiling.pass_through()
        return super().compile(boosts, config)

    def configure(
        self, stream: ActiveStream, config: StreamConfig, boosts: CompiledBoosts
    ) -> tuple[BoostWarning, ...]:
        self.beginning.pass_through()
        return super().configure(stream, config, boosts)

    def encode(self, lanes: Sequence[Lane]) -> None:
        self.stepping.pass_through()
        super().encode(lanes)


@pytest.fixture
def gated() -> GatedRecognizer:
    return GatedRecognizer()


@pytest.fixture
def engine(gated: GatedRecognizer) -> Iterator[Engine]:
    engine = Engine(gated, EngineConfig(max_streams=4))
    engine.start()
    yield engine
    for gate in (gated.compiling, gated.beginning, gated.stepping):
        gate.open(9)
    assert engine.stop(WAIT_S)


def assert_stopped(engine: Engine, listener) -> None:
    last = listener.wait_for_last()
    assert isinstance(last, Failed)
    assert isinstance(last.error, EngineStopped)
    assert engine.stop(WAIT_S)
    assert engine.stats.failed_streams == 0


def test_a_stream_that_begins_as_its_engine_stops_has_not_failed(engine, gated, sounds) -> None:
    engine.open(PLAIN, sounds.Listener())
    gated.beginning.wait()  # those that come now are looked at in one turn
    engine.open(PLAIN, sounds.Listener())
    engine.open(BOOSTED, sounds.Listener())
    gated.compiling.wait()  # what comes behind it is never begun
    engine.open(BOOSTED, listener := sounds.Listener())
    gated.beginning.open()
    gated.beginning.wait()
    assert not engine.stop(0)
    gated.beginning.open()
    assert_stopped(engine, listener)


def test_a_stream_that_changes_as_its_engine_stops_has_not_failed(engine, gated, sounds) -> None:
    gated.beginning.open()
    stream = engine.open(PLAIN, listener := sounds.Listener())
    sounds.push_all(stream, knocks(0.1, 0.3))
    gated.stepping.wait()
    engine.open(BOOSTED, sounds.Listener())
    gated.compiling.wait()
    stream.configure(BOOSTED.boosts)
    assert not engine.stop(0)
    gated.stepping.open()
    assert_stopped(engine, listener)
