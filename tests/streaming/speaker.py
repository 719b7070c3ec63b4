"""A stream that is decoded chunk by chunk, without an engine: its frames are what it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from earshot.streaming.requests import FINALIZE
from earshot.streaming.stream.active_stream import ActiveStream, StreamSettings
from earshot.streaming.stream.chunking import Chunking
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.lane_features import compute_features
from earshot.streaming.stream.segment_end import divided_ending
from earshot.streaming.stream.stream_decoder import StreamDecoder
from earshot.streaming.stream_config import EndpointConfig, StreamConfig, StreamPriority

FRAME_MS = 100
QUICK = StreamConfig(
    endpoint=EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)
)
ENDLESS = StreamConfig(endpoint=EndpointConfig(silence_ms=None, no_speech_ms=10**6))

Script = list[list[float]]


class Verbatim:
    """Its own features: samples as they are, so many in a frame."""

    before = closing = 0
    sample_scale = 1.0

    def __init__(self, size: int) -> None:
        self.frame_length = self.frame_shift = self.size = size

    def silence_after(self, last: Tensor, count: int) -> Tensor:
        return torch.zeros(count)

    def of_frames(self, frames: Tensor) -> Tensor:
        return frames

    def quietest(self, features: Tensor) -> Tensor:
        return features[0]


@dataclass(frozen=True)
class Told:
    """A final: its text, where its labels are in the stream, and the frame after its last."""

    cause: str
    text: str
    frames: tuple[int, ...]
    ends: tuple[int, ...]
    log_probs: tuple[float, ...]
    stop: int


@dataclass
class Speaker:
    """A stream that is decoded chunk by chunk, as the engine does it."""

    decoder: StreamDecoder
    size: int
    config: StreamConfig = QUICK
    chunk: int = 8
    slot: int = 0
    search: str = "transducer"
    finals: list[Told] = field(default_factory=list)
    before_flush: int = 0

    def __post_init__(self) -> None:
        chunking = Chunking(
            self.chunk, 1, 0, float(FRAME_MS), closing=lambda features: max(features, 0)
        )
        rate_hz = self.size * 1000 // FRAME_MS
        settings = StreamSettings(Verbatim(self.size), chunking, rate_hz, 10**9, 0, continuous=True)
        asked = (self.config, self.search, StreamPriority.LIVE, lambda event: None)
        self.stream = ActiveStream(self.slot, *asked, Inbox(1), Future(), settings)

    def say(self, script: Script) -> Speaker:
        self.hear(script)
        return self.go_on()

    def hear(self, script: Script) -> None:
        """Frames that will be decoded."""
        self.stream.listen(np.array(script, np.float32).reshape(-1))

    def flush(self) -> Speaker:
        self.stream.begin_flush(FINALIZE)
        frames = self.before_flush + self.stream.track.available
        self.go_on()
        self.before_flush = frames
        return self

    def go_on(self) -> Speaker:
        while self.stream.next_cut() is not None:
            step([self])
        return self

    def tell(self, lane: Lane) -> None:
        """Keep the final, and begin what comes after it."""
        if (ending := lane.ending) is None:
            return
        best = ending.hypotheses[0]
        start = self.before_flush + self.stream.segment.start_frame
        frames, ends = (
            tuple(start + each for each in places) for places in (best.frames, best.ends or ())
        )
        log_probs = tuple(best.token_log_probs)
        stop = start + self.stream.segment.frames
        self.finals.append(Told(ending.cause, best.text, frames, ends, log_probs, stop))
        ending.leave()
        twice(lambda: self.decoder.restart([ending]))


def step(speakers: Sequence[Speaker]) -> None:
    """One chunk of each, by one decoder; where that fails, by each alone."""
    lanes = [Lane(each.stream, each.stream.begin_step(0.0)) for each in speakers]
    for lane in lanes:
        encode(lane)
    decoder = speakers[0].decoder
    try:
        decode(decoder, decoder.decode, lanes)
    except RuntimeError:
        for lane in lanes:
            decode(decoder, decoder.decode_again, [lane])
    for speaker, lane in zip(speakers, lanes, strict=True):
        speaker.tell(lane)


def encode(lane: Lane) -> None:
    """What is heard is what is said; a rest is encoded already."""
    if (rest := lane.stream.rest) is not None:
        lane.encoded, lane.output = rest.encoded, rest.output
    elif lane.cut.frames:
        compute_features([lane], lane.stream.settings)
        lane.encoded = lane.stream.window(lane.cut)


def decode(decoder: StreamDecoder, work: Callable[[list[Lane]], None], lanes: list[Lane]) -> None:
    work(lanes)
    for lane in lanes:
        lane.ending = lane.ending or divided_ending(lane, decoder)


def twice(work: Callable[[], None]) -> None:
    """Once more where it fails."""
    try:
        work()
    except RuntimeError:
        work()
