"""Decoding of segments with a beam by a transducer's head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from earshot.decoder_kernels.transducer.label_beam import BeamMemory, LabelBeam, SearchedChunk
from earshot.decoder_kernels.transducer.label_loop import LabelLoop
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.parts.transducer_lm import lm_weight_of
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.transducer.searched import Hypotheses, searched_chunk
from earshot.streaming.transducer.segments.segment_search import SegmentSearch


@dataclass(frozen=True, eq=False)
class FoundInSegment:
    """The hypotheses of a segment so far, and the memory after them."""

    hypotheses: Hypotheses
    after: BeamMemory


class BeamSegments(SegmentSearch[FoundInSegment]):
    """Hypotheses; the first labels that all share are stable, and no told word narrows them."""

    def __init__(self, loop: LabelLoop, beam: LabelBeam, tokenizer: Tokenizer) -> None:
        super().__init__(loop, tokenizer, FoundInSegment(Hypotheses(), beam.begin()))
        self._beam = beam

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The likeliest of each."""
        return [self._best(stream) for stream in streams]

    def nbest(self, stream: ActiveStream, count: int, *, ended: bool) -> list[Hypothesis]:
        """All that differ in their texts, the likeliest first; of the others those with words."""
        found = self._found(stream)
        order = found.after.scores.argsort(descending=True, stable=True).tolist()
        ranked = (found.hypotheses.transcripts[place] for place in order)
        return self._spelling.alternatives(ranked, stream)[:count]

    def _best(self, stream: ActiveStream) -> Best:
        found = self._found(stream)
        leading = found.hypotheses.transcripts[found.after.leading]
        return self._spelling.best(leading, found.hypotheses.stable, stream)

    def _walk(
        self,
        chunks: Sequence[Tensor],
        before: Sequence[FoundInSegment],
        streams: Sequence[ActiveStream],
    ) -> list[FoundInSegment | None]:
        slots = [stream.slot for stream in streams]
        weights = [lm_weight_of(stream.config, self._beam.lm_weight) for stream in streams]
        found = self._beam(chunks, [each.after for each in before], slots, weights)
        return [
            None if searched is None else _behind(said, searched, len(chunk))
            for said, searched, chunk in zip(before, found, chunks, strict=True)
        ]


def _behind(said: FoundInSegment, found: SearchedChunk, frames: int) -> FoundInSegment:
    searched = searched_chunk(found)
    return FoundInSegment(said.hypotheses.then(searched, frames), searched.after)
