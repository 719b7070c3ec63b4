"""Models are opened in turn, on a thread of their own, and given back by whoever is gone."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from earshot.streaming.errors import EngineStopped, InvalidStreamConfig
from earshot.streaming.language_models.held_lms import HeldLms, let_go
from earshot.streaming.language_models.lm_opener import LmOpener
from earshot.streaming.lm_mix import LmChoice, LmMix
from earshot.streaming.serial_thread import at_hand

LAW = LmMix.read("law")
PATIENCE_S = 30.0


class Gate:
    """Opens a model once it may; notes who is given back."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun = threading.Event()
        self.order: list[str] = []
        self.at_hand: HeldLms | None = None
        self.error: Exception = InvalidStreamConfig("no such model")

    def hold_open(self, asked: LmMix) -> HeldLms | None:
        return self.at_hand

    def hold(self, asked: LmChoice | None) -> HeldLms:
        self.begun.set()
        assert self.open.wait(PATIENCE_S)
        self.order.append(f"{asked} on {threading.current_thread().name}")
        if asked != LAW:
            raise self.error
        return HeldLms(None, lambda: self.order.append("back"))


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def opener(gate: Gate) -> Iterator[LmOpener]:
    opener = LmOpener(gate.hold, gate.hold_open)
    yield opener
    gate.open.set()
    opener.stop()


def test_who_names_none_waits_for_nobody(opener: LmOpener, gate: Gate) -> None:
    opener.submit(LAW)
    for asked in (None, True, False):
        assert opener.submit(asked).done()


def test_models_are_opened_elsewhere(opener: LmOpener, gate: Gate) -> None:
    gate.open.set()
    opener.submit(LAW).result(PATIENCE_S)
    assert gate.order == ["law on language-models_0"]


def test_what_is_wrong_is_told_to_who_asked(opener: LmOpener, gate: Gate) -> None:
    gate.open.set()
    opening = opener.submit(LmMix.read("art"))
    with pytest.raises(InvalidStreamConfig, match="no such model"):
        opening.result(PATIENCE_S)
    let_go(opening)
    assert gate.order == ["art on language-models_0"]


def test_what_others_hold_is_at_hand_while_something_else_is_opened(opener, gate) -> None:
    opener.submit(LAW)
    assert gate.begun.wait(PATIENCE_S)
    gate.at_hand = HeldLms()
    assert opener.submit(LAW).result(0) is gate.at_hand


def test_whatever_goes_wrong_is_the_error_of_one_stream(opener: LmOpener, gate: Gate) -> None:
    gate.open.set()
    gate.error = MemoryError()
    with pytest.raises(InvalidStreamConfig, match="lm=art cannot be opened here"):
        opener.submit(LmMix.read("art")).result(PATIENCE_S)
    opener.submit(LAW).result(PATIENCE_S)


def test_what_is_being_opened_for_nobody_is_given_back(opener: LmOpener, gate: Gate) -> None:
    opening = opener.submit(LAW)
    assert gate.begun.wait(PATIENCE_S)
    let_go(opening)
    gate.open.set()
    opener.submit(LAW).result(PATIENCE_S)
    assert gate.order == ["law on language-models_0", "back", "law on language-models_0"]


def test_and_what_waits_is_not_opened(opener: LmOpener, gate: Gate) -> None:
    first, waiting = opener.submit(LAW), opener.submit(LAW)
    assert gate.begun.wait(PATIENCE_S)
    let_go(waiting)
    gate.open.set()
    first.result(PATIENCE_S)
    assert waiting.cancelled()


def test_what_is_open_is_given_back_once() -> None:
    gone: list[str] = []
    opened: Future[HeldLms] = at_hand(HeldLms(None, lambda: gone.append("back")))
    let_go(opened)
    let_go(opened)
    assert gone == ["back"]


def test_after_the_engine_nothing_is_opened(gate: Gate) -> None:
    opener = LmOpener(gate.hold, gate.hold_open)
    opener.stop()
    with pytest.raises(EngineStopped):
        opener.submit(LAW)
