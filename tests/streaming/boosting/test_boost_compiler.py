"""Lists of phrases are compiled in turn; a long one holds up no short ones."""

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from earshot.streaming.boosting.boost_compiler import SHORT_LIST, BoostCompiler
from earshot.streaming.boosting.boosting import NO_BOOSTS, CompiledBoosts
from earshot.streaming.errors import EngineStopped
from earshot.streaming.stream_config import Boost, StreamConfig

CONFIG = StreamConfig()
PATIENCE_S = 30.0


class Gate:
    """Compiles nothing, and a list with the phrase "wait" only once it is open."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun = threading.Event()
        self.order: list[str] = []

    def compile(self, boosts: Sequence[Boost], _: StreamConfig) -> CompiledBoosts:
        if boosts[0].phrase == "wait":
            self.begun.set()
            assert self.open.wait(PATIENCE_S)
        self.order.append(boosts[0].phrase)
        return CompiledBoosts((boosts[0].phrase,), (), None, ())


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def compiler(gate: Gate) -> Iterator[BoostCompiler]:
    compiler = BoostCompiler(gate.compile)
    yield compiler
    gate.open.set()
    compiler.stop()


def short_list(first: str) -> list[Boost]:
    return [Boost(first, 1.0)]


def long_list(first: str) -> list[Boost]:
    return [Boost(first, 1.0)] + [Boost(f"phrase {i}", 1.0) for i in range(SHORT_LIST)]


def test_a_short_list_does_not_wait_for_a_long_one(compiler: BoostCompiler, gate: Gate) -> None:
    waiting = compiler.submit(long_list("wait"), CONFIG)
    assert compiler.submit(short_list("short"), CONFIG).result(PATIENCE_S).texts == ("short",)
    assert not waiting.done()
    gate.open.set()
    assert waiting.result(PATIENCE_S).texts == ("wait",)


@pytest.mark.parametrize("make", [short_list, long_list])
def test_lists_alike_are_compiled_in_the_order_of_their_coming(
    compiler: BoostCompiler, gate: Gate, make: Callable[[str], list[Boost]]
) -> None:
    asked = [compiler.submit(make(first), CONFIG) for first in ("wait", "second", "third")]
    gate.open.set()
    assert [each.result(PATIENCE_S).texts for each in asked] == [("wait",), ("second",), ("third",)]
    assert gate.order == ["wait", "second", "third"]


def test_no_boosts_are_there_at_once(compiler: BoostCompiler, gate: Gate) -> None:
    compiler.submit(short_list("wait"), CONFIG)
    assert compiler.submit([], CONFIG).result(0) is NO_BOOSTS


@pytest.mark.parametrize("make", [short_list, long_list])
def test_a_stopped_compiler_finishes_what_it_began_and_begins_no_more(
    compiler: BoostCompiler, gate: Gate, make: Callable[[str], list[Boost]]
) -> None:
    begun, behind = (compiler.submit(make(first), CONFIG) for first in ("wait", "never"))
    assert gate.begun.wait(PATIENCE_S)
    compiler.stop()
    gate.open.set()
    assert begun.result(PATIENCE_S).texts == ("wait",)
    assert behind.cancelled()
    with pytest.raises(EngineStopped):
        compiler.submit(make("late"), CONFIG)
