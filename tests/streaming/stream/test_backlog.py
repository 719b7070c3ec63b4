"""The bounds of what a stream's callers may leave waiting."""

import numpy as np
import pytest

from earshot.streaming.errors import BacklogFull, InvalidAudio, StreamClosed
from earshot.streaming.events import Closed, Configured, Described, Final
from earshot.streaming.requests import FINALIZE, FINISH, Cancel, Configure, Describe, Push
from earshot.streaming.stream.backlog import MAX_REQUESTS, Backlog
from earshot.streaming.stream.sample_count import SampleCount

CONFIGURE = Configure(())
FINALIZED = Final(0.0, 0.0, (), speech_final=True, from_finalize=True, cause="finalize")
CONFIGURED = Configured(())
DESCRIBED = Described(0, "greedy", 0, 0.0, {})


def push(count: int) -> Push:
    return Push(np.zeros(count, np.float32))


@pytest.fixture
def decoded():
    return SampleCount()


@pytest.fixture
def backlog(decoded):
    return Backlog(100, 10, decoded)


def test_samples_beyond_the_backlog_are_refused_whole(backlog, decoded):
    assert backlog.admit(push(50))
    assert backlog.admit(push(10))
    with pytest.raises(BacklogFull, match="41 samples pushed where 40 have room"):
        backlog.admit(push(41))
    assert (backlog.waiting_s, backlog.room_s) == (6.0, 4.0)
    decoded.value = 1
    assert backlog.admit(push(41))


@pytest.mark.parametrize(
    ("samples", "match"),
    [
        (np.zeros(51, np.float32), "half of the backlog"),
        (np.zeros(5), "float32"),
        (np.zeros((2, 2), np.float32), "one-dimensional"),
        (np.full(5, np.nan, np.float32), "nan is not audio"),
        (np.full(5, 9.0, np.float32), "9 is not audio"),
    ],
)
def test_what_is_no_audio_is_refused_and_not_counted(backlog, samples, match):
    with pytest.raises(InvalidAudio, match=match):
        backlog.admit(Push(samples))
    assert backlog.waiting_s == 0


def test_empty_pushes_ask_for_nothing(backlog):
    assert not backlog.admit(push(0))


@pytest.mark.parametrize(
    ("request_", "answer"),
    [(FINALIZE, FINALIZED), (CONFIGURE, CONFIGURED), (Describe(), DESCRIBED)],
    ids=str,
)
def test_requests_are_bounded_until_they_are_answered(backlog, request_, answer):
    for _ in range(MAX_REQUESTS):
        backlog.admit(request_)
    with pytest.raises(BacklogFull, match="64 requests"):
        backlog.admit(request_)
    backlog.note(answer)
    backlog.admit(request_)
    backlog.admit(FINISH)  # an end is always taken


@pytest.mark.parametrize("request_", [push(1), FINALIZE, CONFIGURE, FINISH], ids=str)
@pytest.mark.parametrize("end", [FINISH, Cancel()], ids=str)
def test_after_its_end_a_stream_takes_no_request(backlog, end, request_):
    backlog.admit(end)
    with pytest.raises(StreamClosed):
        backlog.admit(request_)


def test_a_stream_that_is_over_has_nothing_to_cancel(backlog):
    assert backlog.admit(Cancel())
    backlog.note(Closed(0.0))
    assert not backlog.admit(Cancel())


def test_the_count_of_a_stream_that_is_over_is_its_own(backlog, decoded):
    backlog.admit(push(30))
    decoded.value = 20
    backlog.note(Closed(2.0))
    decoded.value = 0  # the place is another stream's now
    assert backlog.decoded_s == 2.0
