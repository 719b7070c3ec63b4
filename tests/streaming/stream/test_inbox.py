"""What the engine takes of its streams' requests, and when."""

from concurrent.futures import Future

import numpy as np
import pytest

from earshot.streaming.boosting.boosting import NO_BOOSTS, CompiledBoosts
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.requests import FINALIZE, FINISH, AwaitRoom, Configure, Push
from earshot.streaming.stream.backlog import MAX_REQUESTS
from earshot.streaming.stream.inbox import Inbox, Reconfigure


def compiled() -> Future[CompiledBoosts]:
    boosts: Future[CompiledBoosts] = Future()
    boosts.set_result(NO_BOOSTS)
    return boosts


def push(count: int) -> Push:
    return Push(np.zeros(count, np.float32))


def test_whoever_had_no_room_hears_once_when_half_is_free():
    inbox = Inbox(max_backlog=100)
    inbox.put(push(60))
    inbox.put(AwaitRoom())
    assert (inbox.backlog, inbox.room) == (60, 40)
    assert not inbox.release(consumed=9)
    assert inbox.release(consumed=10)
    assert not inbox.release(consumed=60), "an overflow ends once"


RECONFIGURE = Reconfigure(Configure(()), compiled())


@pytest.mark.parametrize("request_", [FINALIZE, RECONFIGURE], ids=["flush", "configure"])
def test_requests_leave_no_room_although_they_hold_no_samples(request_):
    inbox = Inbox(max_backlog=100)
    for request in [request_] * MAX_REQUESTS + [FINISH, AwaitRoom()]:
        inbox.put(request)
    assert not inbox.release(consumed=0)
    while FINISH not in inbox.take():
        pass
    assert inbox.release(consumed=0)


@pytest.mark.parametrize(
    "requests", [[push(60), push(41)], [FINALIZE] * (MAX_REQUESTS + 2)], ids=["samples", "requests"]
)
def test_more_than_was_to_be_let_in_is_an_error_and_not_lost(requests):
    inbox = Inbox(max_backlog=100)
    for request in requests:
        inbox.put(request)
    with pytest.raises(DecodingFailed, match="were let in"):
        inbox.take()


def test_what_is_taken_ends_with_a_flush():
    inbox = Inbox(max_backlog=100)
    for request in (push(1), FINALIZE, push(2)):
        inbox.put(request)
    first, second = inbox.take(), inbox.take()
    assert [len(first[0]), first[1]] == [1, FINALIZE]
    assert [len(piece) for piece in second] == [2]


def test_boosts_of_a_stream_that_is_gone_are_not_compiled():
    inbox, waiting = Inbox(max_backlog=100), Future()
    inbox.put(Reconfigure(Configure(()), waiting))
    inbox.clear()
    assert waiting.cancelled()


def test_nothing_is_kept_for_a_stream_that_is_gone():
    inbox = Inbox(max_backlog=100)
    inbox.clear()
    assert not inbox.put(push(10))
    assert inbox.take() == []


def test_nothing_overtakes_boosts_that_are_being_compiled():
    inbox, compiling = Inbox(max_backlog=100), Future()
    reconfigure = Reconfigure(Configure(()), compiling)
    for request in (push(1), reconfigure, push(2)):
        inbox.put(request)
    assert len(inbox.take()) == 1
    assert inbox.held
    assert inbox.take() == []
    compiling.set_result(NO_BOOSTS)
    assert not inbox.held
    assert inbox.take()[0] is reconfigure
