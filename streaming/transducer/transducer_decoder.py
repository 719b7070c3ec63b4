"""Streams decoded greedily by a transducer's head."""

from collections.abc import Sequence

import torch

from earshot.decoder_kernels.transducer.label_loop import LoopMemory
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.replay import HOST
from earshot.streaming.stream.rest import Rest
from earshot.streaming.stream.segment import Segment
from earshot.streaming.transducer.greedy_loop import GreedyLoop
from earshot.streaming.transducer.label_decoder import LabelDecoder
from earshot.streaming.transducer.told import Told
from earshot.streaming.transducer.transcript import NOTHING_FOUND, Transcript
from earshot.streaming.transducer.walked import Walked, walk_over


class TransducerDecoder(LabelDecoder[LoopMemory]):
    """Greedy decoding; a segment's search state is its transcript."""

    def __init__(self, loop: GreedyLoop, tokenizer: Tokenizer, max_streams: int) -> None:
        super().__init__(loop, tokenizer, loop.begin(), max_streams)
        self._told: list[Told[Best] | None] = [None] * max_streams

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The one path of each, in which every label is stable."""
        return [self._best(stream) for stream in streams]

    def nbest(self, stream: ActiveStream, *, ended: bool) -> list[Hypothesis]:
        """The one path, which ends with the segment."""
        found = transcript_of(stream.segment).closed
        return [self._spelling.told(found, stream)]

    def rest(self, lane: Lane, boundary: int) -> Rest | None:
        """The frames from there on, with the labels that were found in them."""
        segment, walked = lane.stream.segment, _walked(lane)
        encoded = torch.cat((segment.memory()[boundary:], lane.encoded[lane.used :]))
        if not len(encoded):
            return None
        labels = transcript_of(segment).then(walked.transcript.since(lane.used)).since(boundary)
        return Rest(encoded, Walked(labels, walked.after))

    def truncate(self, stream: ActiveStream, frames: int) -> None:
        """Leave the segment the labels of its first frames."""
        found = transcript_of(stream.segment).until(frames)
        stream.segment.truncate(frames)
        stream.segment.search_state = found

    def memory_of(self, stream: ActiveStream) -> object:
        """The memory of the stream, which is never changed, on the CPU."""
        return self._spoken[stream.slot].to(HOST)

    def free(self, stream: ActiveStream) -> None:
        """Nothing was said, nothing is boosted, and nothing was told."""
        super().free(stream)
        self._told[stream.slot] = None

    def _walk(self, lanes: Sequence[Lane]) -> None:
        walk_over(self._loop, lanes, [self._spoken[lane.stream.slot] for lane in lanes])

    def _take(self, lane: Lane) -> None:
        walked, segment = _walked(lane), lane.stream.segment
        lane.observe(self._evidence(lane, walked.transcript))
        found = transcript_of(segment)
        if found.length < segment.frames:
            segment.search_state = found.then(walked.transcript.until(lane.used))
        self._spoken[lane.stream.slot] = walked.after

    def _leading(self, stream: ActiveStream) -> Transcript:
        return transcript_of(stream.segment)

    def _best(self, stream: ActiveStream) -> Best:
        found, told = transcript_of(stream.segment), self._told[stream.slot]
        if told is None or not told.holds(stream, found):
            best = self._spelling.best(found, len(found.tokens), stream)
            told = Told.of(stream, found, best)
            self._told[stream.slot] = told
        return told.answer


def transcript_of(segment: Segment) -> Transcript:
    """The labels found in a segment so far."""
    found = segment.search_state
    return found if isinstance(found, Transcript) else NOTHING_FOUND


def _walked(lane: Lane) -> Walked:
    assert isinstance(lane.output, Walked)
    return lane.output
