"""Features of the lanes of one step."""

from concurrent.futures import Future

import numpy as np
import pytest
import torch

from earshot.models.features.kaldi_fbank import Fbank
from earshot.streaming.stream.active_stream import ActiveStream, StreamSettings
from earshot.streaming.stream.chunking import Chunking, Cut
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.lane_features import compute_features
from earshot.streaming.stream.rest import Rest
from earshot.streaming.stream_config import StreamConfig, StreamPriority


class CountedFbank(Fbank):
    """Notes how many frames each call is given."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = []

    def of_frames(self, frames):
        self.calls.append(len(frames))
        return super().of_frames(frames)


@pytest.fixture
def settings():
    return StreamSettings(CountedFbank(), Chunking(4, 4, 6, 10.0), 16_000, 20_000, 0)


def lane_of(settings, seconds: float, cut: Cut | None = None) -> Lane:
    asked = (StreamConfig(), "prefix", StreamPriority.FILE, lambda event: None)
    stream = ActiveStream(0, *asked, Inbox(1), Future(), settings)
    samples = np.random.default_rng(round(100 * seconds)).normal(0, 0.1, round(16_000 * seconds))
    stream.listen(samples.astype(np.float32))
    return Lane(stream, cut or stream.ready_cut())


def test_all_lanes_have_their_windows_by_one_batch(settings):
    lanes = [lane_of(settings, 0.5), lane_of(settings, 0.7)]
    compute_features(lanes, settings)
    assert settings.features.calls == [19 + 19]
    for lane, seconds in zip(lanes, (0.5, 0.7), strict=True):
        alone = lane_of(settings, seconds)
        compute_features([alone], settings)
        window = lane.stream.window(lane.cut)
        assert window.shape == (19, 80)
        assert torch.equal(window, alone.stream.window(alone.cut))


def test_frames_that_an_earlier_step_has_computed_are_not_computed_again(settings):
    lane = lane_of(settings, 1.0)
    compute_features([lane], settings)
    lane.stream.segment.extend(torch.zeros(4, 1))
    compute_features([Lane(lane.stream, lane.stream.ready_cut())], settings)
    assert settings.features.calls == [19, 16]


def test_a_lane_without_frames_needs_none(settings):
    lane = lane_of(settings, 0.5, Cut(0, 0, last=True))
    lane.stream.segment.extend(torch.zeros(4, 1))
    compute_features([lane], settings)
    assert lane.stream.track.computed == 0
    compute_features([], settings)
    assert settings.features.calls == []


def test_a_lane_with_a_rest_needs_none(settings):
    lane = lane_of(settings, 0.5)
    lane.stream.restart(1, Rest(torch.zeros(3, 1)))
    lane.cut = lane.stream.ready_cut()
    compute_features([lane], settings)
    assert lane.stream.track.computed == 0


def test_frames_whose_place_is_behind_the_end_have_all_that_lies_before_it(settings):
    lane = lane_of(settings, 0.5, Cut(0, 1, last=True))
    lane.stream.segment.extend(torch.zeros(13, 1))  # the next one's place is feature frame 52
    compute_features([lane], settings)
    assert lane.stream.track.computed == lane.stream.track.heard == 48
