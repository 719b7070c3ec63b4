"""One stream's windows and times, where the encoder goes on over endpoints."""

from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest
import torch
from speaker import Verbatim

from earshot.streaming.requests import FINALIZE
from earshot.streaming.stream.active_stream import ActiveStream, StreamSettings
from earshot.streaming.stream.chunking import Chunking, Cut
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.lane_features import compute_features
from earshot.streaming.stream.rest import Rest
from earshot.streaming.stream_config import StreamConfig, StreamPriority

RATE, BEFORE = 8, 14


def frames_ahead(features: int) -> int:
    """Up to the last that begins 6 feature frames behind the end, as of a causal stem."""
    return max((features + 6) // RATE + 1, 0)


def stream_of(features: int, chunk: int = 1) -> ActiveStream:
    """One that has heard so many feature frames, each its own number."""
    chunking = Chunking(chunk, RATE, 0, 10.0, BEFORE, frames_ahead)
    settings = StreamSettings(Verbatim(1), chunking, 100, 10**6, 0, continuous=True)
    asked = (StreamConfig(), "any", StreamPriority.LIVE, lambda event: None)
    stream = ActiveStream(0, *asked, Inbox(1), Future(), settings)
    stream.listen(np.arange(features, dtype=np.float32))
    return stream


def step(stream: ActiveStream) -> list[int]:
    """One chunk, whose frames are the segment's; the features of its window."""
    lane = Lane(stream, stream.ready_cut())
    compute_features([lane], stream.settings)
    window = stream.window(lane.cut)
    stream.segment.extend(torch.zeros(lane.cut.frames, 1))
    return window[:, 0].int().tolist()


def windows_of(stream: ActiveStream) -> list[list[int]]:
    """The features of all windows up to the stream's end."""
    windows = []
    while stream.ready_cut().frames:
        windows.append(step(stream))
    return windows


@pytest.mark.parametrize("ended_at", [0, 1, 5, 10, 11])
@pytest.mark.parametrize("features", range(74, 90))
def test_windows_hold_what_there_is_and_no_more(features: int, ended_at: int) -> None:
    stream = stream_of(features)
    windows = [step(stream) for _ in range(min(ended_at, (features - 1) // RATE + 1))]
    stream.begin_flush(FINALIZE)
    windows += windows_of(stream)
    assert windows == [
        list(range(max(place - BEFORE, 0), min(place + 1, features)))
        for place in range(0, features + 7, RATE)
    ]


@pytest.mark.parametrize("features", [82, 83, 88])
def test_a_segment_that_begins_behind_the_end_has_a_window_too(features: int) -> None:
    stream = stream_of(features)
    for _ in range(11):
        step(stream)
    stream.restart(11)
    stream.begin_flush(FINALIZE)
    assert stream.ready_cut() == Cut(0, 1, last=True)
    assert step(stream) == list(range(88 - BEFORE, features))


def test_a_segment_that_begins_behind_the_end_lasts_no_time() -> None:
    stream = stream_of(82)
    for _ in range(11):
        step(stream)
    stream.restart(11)
    stream.begin_flush(FINALIZE)
    step(stream)
    clock = stream.clock
    assert (clock.start_s, clock.at(0), clock.at(1), clock.end_s) == (0.82,) * 4


def test_a_rest_comes_before_sound_that_is_not_yet_encoded() -> None:
    stream = stream_of(82, chunk=4)
    step(stream)
    stream.restart(1, Rest(torch.zeros(3, 1)))
    assert (stream.ready_cut(), stream.window_start) == (Cut(0, 3, last=False, is_rest=True), 32)
    stream.segment.extend(torch.zeros(3, 1))
    stream.rest = None
    assert stream.ready_cut() == Cut(25, 4, last=False)
    assert step(stream) == list(range(32 - BEFORE, 32 + 25))


def test_a_flush_forgets_the_rest() -> None:
    stream = stream_of(82)
    stream.restart(1, Rest(torch.zeros(3, 1)))
    stream.begin_flush(FINALIZE)
    stream.end_flush()
    assert stream.rest is None
    assert stream.next_cut() is None


def test_no_endpoint_rule_looks_at_a_frame_behind_the_end_and_all_at_a_rest() -> None:
    stream = stream_of(82)
    stream.begin_flush(FINALIZE)
    for _ in range(11):
        assert not stream.in_padding(stream.ready_cut())
        step(stream)
    assert stream.in_padding(stream.ready_cut())
    stream.restart(11, Rest(torch.zeros(1, 1)))
    assert not stream.in_padding(stream.ready_cut())


def test_as_many_frames_are_kept_as_the_largest_window_goes_back() -> None:
    small = Chunking(1, RATE, 0, 10.0, BEFORE, frames_ahead)
    large = Chunking(3, RATE, 40, 10.0, 5 * RATE, frames_ahead)
    settings = StreamSettings(
        Verbatim(1), small, 100, 10**6, 0, chunkings=(large,), continuous=True
    )
    assert settings.kept_frames == 5 * RATE + 2 * RATE + 41


def test_a_flush_adds_nothing_where_the_encoder_knows_how_audio_ends() -> None:
    for closing, padding in ((None, 6 + 30), (frames_ahead, 0)):
        chunking = Chunking(1, RATE, 6, 10.0, closing=closing)
        settings = StreamSettings(Verbatim(1), chunking, 100, 10**6, flush_padding_ms=300)
        assert settings.padding_frames == padding


def test_a_rest_holds_no_new_sound() -> None:
    stream = stream_of(100, chunk=4)
    assert stream.ready_cut().new_frames == 4
    stream.restart(0, Rest(torch.zeros(3, 1)))
    assert (stream.ready_cut().frames, stream.ready_cut().new_frames) == (3, 0)


def test_a_backlog_holds_what_two_steps_hear() -> None:
    settings = stream_of(0, chunk=20).settings  # a window has 153 samples
    assert settings.backlog_samples(10.0) == 1000
    assert 2 * 153 <= settings.backlog_samples(1.0) < 2 * 160


def test_chunks_that_streams_may_choose_are_told_shortest_first() -> None:
    settings = stream_of(0, chunk=4).settings
    others = tuple(replace(settings.chunking, chunk_size=size) for size in (8, 1))
    assert replace(settings, chunkings=others).chunks_ms == (80.0, 320.0, 640.0)
