"""What a worker says arrives in order, and a pool that does not listen holds up no end."""

import threading
from multiprocessing import Pipe

import pytest

from earshot.streaming.errors import DecodingFailed
from earshot.streaming.events import Closed, Failed, RoomAvailable
from earshot.streaming.workers.messages import Turn
from earshot.streaming.workers.outgoing import MAX_TURNS, Outgoing

LONG = Turn(tuple((number, Closed(0.0)) for number in range(50_000)))
"""More than a pipe holds."""


@pytest.fixture
def pipe():
    ours, theirs = Pipe()
    yield ours, theirs
    ours.close()
    theirs.close()


@pytest.fixture
def given_up():
    return []


def test_turns_arrive_in_their_order_and_the_last_before_the_end(pipe, given_up):
    ours, theirs = pipe
    outgoing = Outgoing(theirs, given_up.append)
    turns = [Turn(((number, Closed(float(number))),)) for number in range(100)]
    for turn in turns:
        outgoing.put(turn)
    outgoing.close(timeout_s=60)
    theirs.close()
    assert [ours.recv() for _ in turns] == turns
    with pytest.raises(EOFError):
        ours.recv()


def test_whoever_is_gone_hears_nothing_and_holds_nobody_up(pipe, given_up):
    ours, theirs = pipe
    ours.close()
    outgoing = Outgoing(theirs, given_up.append)
    for _ in range(2 * MAX_TURNS):
        outgoing.put(LONG)
    outgoing.close(timeout_s=60)


def test_the_end_does_not_wait_for_one_that_does_not_read(pipe, given_up):
    ours, theirs = pipe
    outgoing = Outgoing(theirs, given_up.append)
    full = threading.Event()

    def fill():
        for _ in range(MAX_TURNS + 1):  # one is on its way already
            outgoing.put(LONG)
        full.set()

    filling = threading.Thread(target=fill, daemon=True)
    filling.start()
    assert full.wait(60)
    outgoing.close(timeout_s=0.05)
    ours.close()
    outgoing.close(timeout_s=60)


def test_an_event_that_cannot_be_pickled_fails_its_stream_alone(pipe, given_up, caplog):
    ours, theirs = pipe
    outgoing = Outgoing(theirs, given_up.append)
    bad, good = RoomAvailable(lambda: 1.0), RoomAvailable(1.0)
    for turn in (((1, good), (2, bad)), ((2, good), (1, good)), ((2, Closed(1.0)), (1, good))):
        outgoing.put(Turn(turn))
    outgoing.close(timeout_s=60)
    first, second, third = (ours.recv().events for _ in range(3))
    assert (first, second) == (((1, good),), ((1, good),))
    [(number, failed), other] = third
    assert number == 2
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, DecodingFailed)
    assert other == (1, good)
    assert given_up == [2]
    assert "cannot be pickled" in caplog.text
