"""The features of a step: what the lanes' windows lack, in one batch."""

from collections.abc import Sequence

from earshot.streaming.stream.active_stream import StreamSettings
from earshot.streaming.stream.features import compute_frames
from earshot.streaming.stream.lane import Lane


def compute_features(lanes: Sequence[Lane], settings: StreamSettings) -> None:
    """Compute the feature frames that the lanes' windows lack, all in one batch.

    A lane without frames needs none. One whose window is empty may need the track's last: those
    that lie before its frames' own place.
    """
    needing = [lane for lane in lanes if lane.cut.frames]
    tracks = [lane.stream.track for lane in needing]
    raw = [
        track.missing(lane.stream.window_start + lane.cut.window)
        for track, lane in zip(tracks, needing, strict=True)
    ]
    for track, features in zip(tracks, compute_frames(settings.features, raw), strict=True):
        track.store(features)
