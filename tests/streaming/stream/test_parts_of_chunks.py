"""Steps that end in pauses, one after the other, by what a stream asks for."""

from concurrent.futures import Future

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.models.features.kaldi_fbank import Fbank, FeatureConfig
from earshot.streaming.samples import Samples
from earshot.streaming.stream.active_stream import LEAST_PART, ActiveStream, StreamSettings
from earshot.streaming.stream.chunking import Chunking
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream_config import WHOLE, StreamConfig, StreamPriority

SETTINGS = StreamSettings(
    Fbank(FeatureConfig()),
    Chunking(16, 4, 6, 10.0),
    16_000,
    20_000,
    0,
    hears_whole=True,
    ends_steps_in_pauses=True,
)
PARTS = ((1e-3, 0.2), (0.1, 0.7), (1e-3, 0.5), (0.1, 0.2), (1e-3, 1.5), (0.1, 0.9))
"""Levels, each for so many seconds."""


def speech(seed: int) -> Samples:
    drawn = np.random.default_rng(seed)
    parts = [drawn.normal(0, level, round(seconds * 16_000)) for level, seconds in PARTS]
    return np.concatenate(parts).astype(np.float32)


def stream_of(priority: StreamPriority, config: StreamConfig | None = None) -> ActiveStream:
    asked = (config or StreamConfig(), "any", priority, lambda event: None)
    return ActiveStream(0, *asked, Inbox(10**9), Future(), SETTINGS)


def frames_of_steps(stream: ActiveStream, packets: list[Samples]) -> list[int]:
    """Encoder frames of each step; a stream is only called when it has what it has asked for."""
    steps, pushed, wanted = [], 0, 0
    for packet in packets:
        stream.listen(packet)
        pushed += len(packet)
        if pushed < wanted:
            continue
        while (cut := stream.next_cut()) is not None:
            steps.append(cut.frames)
            stream.segment.frames += cut.frames
        wanted = stream.samples_wanted
        assert wanted > pushed, "it would be called again at once, for ever"
    return steps


@pytest.mark.parametrize("seed", range(3))
def test_steps_end_in_pauses(seed: int) -> None:
    steps = frames_of_steps(stream_of(StreamPriority.LIVE), [speech(seed)])
    assert min(steps) >= LEAST_PART
    assert sum(frames < 16 for frames in steps) == 2


@given(st.integers(0, 20), st.lists(st.integers(1, 9000), min_size=1, max_size=60))
def test_packets_and_backlogs_make_no_difference(seed: int, sizes: list[int]) -> None:
    samples = speech(seed)
    packets = np.split(samples, np.cumsum(sizes)[np.cumsum(sizes) < len(samples)])
    whole = frames_of_steps(stream_of(StreamPriority.LIVE), [samples])
    found = frames_of_steps(stream_of(StreamPriority.LIVE), packets)
    assert found == whole[: len(found)]
    assert len(found) == len(whole)


def test_a_file_that_names_a_chunk_is_heard_as_live_audio_is() -> None:
    named = StreamConfig(chunk_ms=640.0)
    live, of_file = (
        frames_of_steps(stream_of(priority, named), [speech(0)])
        for priority in (StreamPriority.LIVE, StreamPriority.FILE)
    )
    assert of_file == live


@pytest.mark.parametrize("chunk_ms", [None, WHOLE])
def test_a_file_that_is_heard_whole_has_full_chunks(chunk_ms: float | None) -> None:
    stream = stream_of(StreamPriority.FILE, StreamConfig(chunk_ms=chunk_ms))
    assert set(frames_of_steps(stream, [speech(0)])) == {16}


@pytest.mark.parametrize("lead", range(64))
def test_wherever_in_a_chunk_a_pause_is_known_more_is_asked_for(lead: int) -> None:
    """By frames that come one at a time, `frames_of_steps` sees every state."""
    samples = np.concatenate([np.zeros(lead * 160, np.float32), speech(0)])
    packets = [samples[start : start + 160] for start in range(0, len(samples), 160)]
    whole = frames_of_steps(stream_of(StreamPriority.LIVE), [samples])
    assert frames_of_steps(stream_of(StreamPriority.LIVE), packets) == whole
