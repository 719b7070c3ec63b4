"""Greedy decoding of segments by a transducer's head."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from earshot.decoder_kernels.transducer.label_loop import WalkedChunk
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.transducer.greedy_loop import GreedyLoop
from earshot.streaming.transducer.segments.segment_search import SegmentSearch
from earshot.streaming.transducer.transcript import NOTHING_FOUND
from earshot.streaming.transducer.walked import Walked, transcript_of_chunk


class GreedySegments(SegmentSearch[Walked]):
    """One path, in which every label is stable."""

    def __init__(self, loop: GreedyLoop, tokenizer: Tokenizer) -> None:
        super().__init__(loop, tokenizer, Walked(NOTHING_FOUND, loop.begin()))

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The one path of each."""
        return [self._best(stream) for stream in streams]

    def nbest(self, stream: ActiveStream, count: int, *, ended: bool) -> list[Hypothesis]:
        """The one path, which ends with the segment."""
        return [self._spelling.told(self._found(stream).transcript.closed, stream)]

    def _best(self, stream: ActiveStream) -> Best:
        found = self._found(stream).transcript
        return self._spelling.best(found, len(found.tokens), stream)

    def _walk(
        self, chunks: Sequence[Tensor], before: Sequence[Walked], streams: Sequence[ActiveStream]
    ) -> list[Walked | None]:
        slots = [stream.slot for stream in streams]
        found = self._loop(chunks, [each.after for each in before], slots)
        return [
            None if walked is None else _behind(said, walked)
            for said, walked in zip(before, found, strict=True)
        ]


def _behind(said: Walked, walked: WalkedChunk) -> Walked:
    return Walked(said.transcript.then(transcript_of_chunk(walked)), walked.after)
