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
from earshot.streaming.transducer.transcript import Transcript


@dataclass(frozen=True, eq=False)
class FoundInSegment:
    """The hypotheses of a segment so far, and the memory after them."""

    hypotheses: Hypotheses
    after: BeamMemory

    @property
    def leading(self) -> Transcript:
        """The labels of the likeliest hypothesis."""
        return self.hypotheses.transcripts[self.after.leading]

    def alike(self, labels: int) -> FoundInSegment:
        """Only hypotheses whose first labels are the leading one's."""
        places = self.hypotheses.alike(self.after.leading, labels)
        return FoundInSegment(self.hypotheses.only(places), self.after.only(places))


class BeamSegments(SegmentSearch[FoundInSegment]):
    """Hypotheses; the first labels that all share are stable.

    A boosted word of the likeliest leaves those that have it, so it is stable: where it was told it
    is in the final, also of a segment that is walked anew.
    """

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
        return self._spelling.best(found.leading, found.hypotheses.stable, stream)

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
            None
            if searched is None
            else self._narrowed(_behind(said, searched, len(chunk)), stream)
            for said, searched, chunk, stream in zip(before, found, chunks, streams, strict=True)
        ]

    def _narrowed(self, found: FoundInSegment, stream: ActiveStream) -> FoundInSegment:
        if not stream.boosts.phrases:
            return found
        return found.alike(self._spelling.boosted_labels(found.leading, stream))


def _behind(said: FoundInSegment, found: SearchedChunk, frames: int) -> FoundInSegment:
    searched = searched_chunk(found)
    return FoundInSegment(said.hypotheses.then(searched, frames), searched.after)
