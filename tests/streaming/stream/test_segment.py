"""What a stream knows of its audio between two boundaries."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from earshot.streaming.stream.endpoint import EndpointDetector
from earshot.streaming.stream.segment import Segment
from earshot.streaming.stream_config import StreamConfig

STEPS = st.lists(st.integers(1, 9), min_size=1, max_size=8)


def segment_of(steps: list[int]) -> Segment:
    """Frames `(T, 1)` that count up from 0, in steps."""
    segment = Segment(0, EndpointDetector(StreamConfig(), 40.0, 60_000))
    for size in steps:
        segment.extend(torch.arange(segment.frames, segment.frames + size).float().unsqueeze(1))
    return segment


@given(STEPS, st.integers(1, 80))
def test_the_latest_frames_are_the_last_ones(steps: list[int], count: int) -> None:
    latest = segment_of(steps).latest(count).flatten().tolist()
    assert latest == list(range(sum(steps)))[-count:]


@pytest.mark.parametrize("count", [1, 100])
def test_looking_at_the_latest_leaves_all_where_they_are(count: int) -> None:
    segment = segment_of([3, 4, 5])
    segment.latest(count)
    assert segment.memory().flatten().tolist() == list(range(12))
