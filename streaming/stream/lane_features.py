"""The features of a step: what the lanes' windows lack, in one batch."""

from collections.abc import Sequence

from earshot.streaming.stream.active_stream import StreamSettings
from earshot.streaming.stream.features import compute_frames
from earshot.streaming.stream.lane import Lane


def compute_features(lanes: Sequence[Lane], settings: StreamSettings) -> None:
    """Compute the feature frames that the lanes' windows lack, all in one batch.

    A lane without new frames needs none. One with an empty window may: of its left context.
    """
    needing = [lane for lane in lanes if lane.cut.frames and lane.stream.rest is None]
    tracks = [lane.stream.track for lane in needing]
    raw = [
        track.missing(lane.stream.window_start + lane.cut.window)
        for track, lane in zip(tracks, needing, strict=True)
    ]
    for track, features in zip(tracks, compute_frames(settings.features, raw), strict=True):
        track.store(features)
