"""Knocks in streams that go on: an endpoint cuts what is said, and no sound is encoded twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from knock_recognizer import LOUD, KnockRecognizer, Knocks, knocks_as_evidence

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.results.hypothesis import Hypothesis
from earshot.streaming.stream.active_stream import ActiveStream, StreamSettings
from earshot.streaming.stream.chunking import Chunking
from earshot.streaming.stream.endpoint import Endpoint
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.lane_features import compute_features
from earshot.streaming.stream.rest import Rest
from earshot.streaming.stream.segment_end import divided_ending


@dataclass(frozen=True)
class Heard:
    """Where knocks begin among so many frames; whether the last one was loud."""

    begun: tuple[bool, ...] = ()
    loud: bool = False

    def to(self, device: torch.device) -> Heard:
        """Itself: there are no tensors."""
        return self


class ContinuousRecognizer(KnockRecognizer):
    """See `Recognizer`. A slot holds how loud it was last, a segment where its knocks begin."""

    def __init__(self, loaded: LoadedModel, config: EngineConfig) -> None:
        super().__init__(loaded, config)
        chunking = Chunking(8, 1, 0, 10.0, closing=lambda features: max(features, 0))
        self.settings = StreamSettings(
            self.settings.features,
            chunking,
            self.settings.sample_rate_hz,
            config.max_utterance_ms,
            0,
            continuous=True,
        )
        self._loud = [False] * config.max_streams

    def encode(self, lanes: Sequence[Lane]) -> None:
        compute_features(lanes, self.settings)
        for lane in lanes:
            if (rest := lane.stream.rest) is not None:
                lane.encoded, lane.output = rest.encoded, rest.output
            elif lane.cut.frames:
                lane.encoded = self.hear(lane)

    def hear(self, lane: Lane) -> torch.Tensor:
        """The new frames of a lane."""
        return lane.stream.window(lane.cut)

    def decode(self, lanes: Sequence[Lane]) -> None:
        for lane in lanes:
            if lane.cut.frames:
                if lane.output is None:
                    lane.output = self.walk(lane)
                self.take(lane)
            lane.ending = lane.ending or divided_ending(lane, self)

    def walk(self, lane: Lane) -> Heard:
        """Where knocks begin in a lane's frames."""
        loud = [value > LOUD for value in lane.encoded[:, 0].tolist()]
        before = [self._loud[lane.stream.slot], *loud]
        begun = tuple(now and not then for then, now in zip(before, loud, strict=False))
        return Heard(begun, loud[-1])

    def take(self, lane: Lane) -> None:
        """Give the segment its own part of what was heard; once."""
        heard, segment = lane.output, lane.stream.segment
        lane.observe(knocks_as_evidence(heard.begun))
        begun = self.begun(lane.stream)
        if len(begun) < segment.frames:
            segment.search_state = (*begun, *heard.begun[: lane.used])
        self._loud[lane.stream.slot] = heard.loud

    def begun(self, stream: ActiveStream) -> tuple[bool, ...]:
        """Whether a knock begins, in each frame of the segment."""
        state = stream.segment.search_state
        return state if isinstance(state, tuple) else ()

    def heard(self, stream: ActiveStream) -> Knocks:
        frames = tuple(at for at, begins in enumerate(self.begun(stream)) if begins)
        return Knocks(frames, ends=tuple(at + 1 for at in frames))

    def nbest(self, stream: ActiveStream, *, ended: bool) -> list[Hypothesis]:
        return [self.heard(stream)]

    def boundary(self, lane: Lane, endpoint: Endpoint) -> int:
        """Between the last two knocks."""
        return max([1, *self.heard(lane.stream).frames])

    def rest(self, lane: Lane, boundary: int) -> Rest | None:
        segment, heard = lane.stream.segment, lane.output
        encoded = torch.cat((segment.memory()[boundary:], lane.encoded[lane.used :]))
        begun = (*self.begun(lane.stream)[boundary:], *heard.begun[lane.used :])
        return Rest(encoded, Heard(begun, heard.loud)) if begun else None

    def truncate(self, stream: ActiveStream, frames: int) -> None:
        begun = self.begun(stream)[:frames]
        stream.segment.truncate(frames)
        stream.segment.search_state = begun

    def restart(self, endings: Sequence[Ending]) -> None:
        super().restart(endings)
        for ending in endings:
            if ending.boundary is None:
                self.free(ending.stream)

    def free(self, stream: ActiveStream) -> None:
        self._loud[stream.slot] = False
