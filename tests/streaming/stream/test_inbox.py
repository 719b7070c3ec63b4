"""The bounds of what a stream's callers may leave waiting."""

from concurrent.futures import Future

import numpy as np
import pytest

from earshot.streaming.boosting.boosting import NO_BOOSTS, CompiledBoosts
from earshot.streaming.errors import BacklogFull
from earshot.streaming.stream.inbox import MAX_REQUESTS, Flush, Inbox, Reconfigure
from earshot.streaming.stream_config import StreamConfig

FINALIZE, FINISH = Flush(last=False), Flush(last=True)


def compiled() -> Future[CompiledBoosts]:
    boosts: Future[CompiledBoosts] = Future()
    boosts.set_result(NO_BOOSTS)
    return boosts


def samples(count: int) -> np.ndarray:
    return np.zeros(count, np.float32)


def test_samples_beyond_the_backlog_are_refused_whole():
    inbox = Inbox(max_backlog=100)
    inbox.push(samples(60))
    with pytest.raises(BacklogFull):
        inbox.push(samples(41))
    assert (inbox.backlog, inbox.room) == (60, 40)
    assert not inbox.release(consumed=9)
    assert inbox.release(consumed=10)
    assert not inbox.release(consumed=60), "an overflow ends once"


def test_empty_pushes_wake_nobody_and_are_not_kept():
    inbox = Inbox(max_backlog=100)
    assert not any(inbox.push(samples(0)) for _ in range(3))
    assert inbox.take() == []
    assert inbox.backlog == 0


RECONFIGURE = Reconfigure(StreamConfig(), compiled())


@pytest.mark.parametrize("request_", [FINALIZE, RECONFIGURE], ids=["flush", "configure"])
def test_requests_are_bounded_although_they_hold_no_samples(request_):
    inbox = Inbox(max_backlog=100)
    for _ in range(MAX_REQUESTS):
        inbox.put(request_)
    with pytest.raises(BacklogFull):
        inbox.put(request_)
    inbox.put(FINISH)  # an end is always taken
    assert not inbox.release(consumed=0)
    while FINISH not in inbox.take():
        pass
    assert inbox.release(consumed=0)
    inbox.put(request_)


def test_what_is_taken_ends_with_a_flush():
    inbox = Inbox(max_backlog=100)
    inbox.push(samples(1))
    inbox.put(FINALIZE)
    inbox.push(samples(2))
    first, second = inbox.take(), inbox.take()
    assert [len(first[0]), first[1]] == [1, FINALIZE]
    assert [len(piece) for piece in second] == [2]


def test_boosts_of_a_stream_that_is_gone_are_not_compiled():
    inbox, waiting = Inbox(max_backlog=100), Future()
    inbox.put(Reconfigure(StreamConfig(), waiting))
    inbox.clear()
    assert waiting.cancelled()


def test_nothing_overtakes_boosts_that_are_being_compiled():
    inbox, compiling = Inbox(max_backlog=100), Future()
    inbox.push(samples(1))
    inbox.put(reconfigure := Reconfigure(StreamConfig(), compiling))
    inbox.push(samples(2))
    assert len(inbox.take()) == 1
    assert inbox.held
    assert inbox.take() == []
    compiling.set_result(NO_BOOSTS)
    assert not inbox.held
    assert inbox.take()[0] is reconfigure
