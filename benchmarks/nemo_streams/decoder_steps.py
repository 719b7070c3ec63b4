"""Steps of streams whose encoder frames are given: all that a decoder does in an engine.

Search, evidence for endpoints, segments, and partials; without encoder, features and sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from torch import Tensor

from earshot.models.config import FeatureConfig
from earshot.models.features.kaldi_fbank import Fbank
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.stream.active_stream import ActiveStream, StreamSettings
from earshot.streaming.stream.chunking import Chunking
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.rest import Rest
from earshot.streaming.stream.segment_end import divided_ending
from earshot.streaming.stream.stream_decoder import StreamDecoder
from earshot.streaming.stream_config import EndpointConfig, StreamConfig, StreamPriority

ENDLESS = StreamConfig(endpoint=EndpointConfig(silence_ms=None, no_speech_ms=10**6))
FRAME_MS = 80.0
FIRST_LETTER = 0x4E00
"""A Chinese letter for each label: a word of its own."""


def words_of(labels: int) -> CharTokenizer:
    """A tokenizer whose labels are words."""
    letters = [chr(FIRST_LETTER + label) for label in range(labels)]
    return CharTokenizer(UnitTable.of(letters, "letters"))


def stepping(decoder: StreamDecoder, steps: Sequence[list[Tensor]]) -> Callable[[], None]:
    """The steps of a round, in one segment of each stream, with a partial after each."""
    frames = len(steps[0][0])

    def run() -> None:
        streams = [_stream(slot, frames) for slot in range(len(steps[0]))]
        for step in steps:
            _step(decoder, streams, step)
        for stream in streams:
            decoder.free(stream)

    return run


def _stream(slot: int, frames: int) -> ActiveStream:
    chunking = Chunking(frames, 1, 0, FRAME_MS, closing=lambda left: max(left, 0))
    settings = StreamSettings(Fbank(FeatureConfig()), chunking, 16_000, 10**9, 0, continuous=True)
    asked = (ENDLESS, "transducer", StreamPriority.LIVE, lambda event: None)
    return ActiveStream(slot, *asked, Inbox(1), Future(), settings)


def _step(decoder: StreamDecoder, streams: Sequence[ActiveStream], step: Sequence[Tensor]) -> None:
    lanes = []
    for stream, encoded in zip(streams, step, strict=True):
        stream.rest = Rest(encoded, None)
        lane = Lane(stream, stream.begin_step(0.0))
        lane.encoded = encoded
        lanes.append(lane)
    decoder.decode(lanes)
    for lane in lanes:
        if divided_ending(lane, decoder) is not None:
            raise SystemExit("a segment has ended: it was not to")
    decoder.best(streams)
