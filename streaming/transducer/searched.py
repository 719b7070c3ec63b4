"""What a beam has found in a chunk, as streams divide it among their segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from earshot.decoder_kernels.transducer.label_beam import BeamMemory, LabelBeam, SearchedChunk
from earshot.streaming.errors import OutputNotFinite
from earshot.streaming.stream.lane import Lane
from earshot.streaming.transducer.transcript import NOTHING_FOUND, Transcript
from earshot.streaming.transducer.walked import transcript_of_chunk


@dataclass(frozen=True, eq=False)
class Searched:
    """The labels of each hypothesis in a chunk, which it was before it, and the memory after it."""

    transcripts: tuple[Transcript, ...]
    parents: tuple[int, ...]
    after: BeamMemory

    @property
    def leading(self) -> Transcript:
        """The labels of the likeliest hypothesis."""
        return self.transcripts[self.after.leading]

    def to(self, device: torch.device) -> Searched:
        """Itself: beams are searched on the CPU, and remembered there."""
        return self


@dataclass(frozen=True)
class Hypotheses:
    """The labels of each hypothesis in a segment, in the order of the stream's memory.

    stable: how many first labels all hypotheses share. None that comes of them has others there, so
    what a chunk brings is compared from there on alone.
    """

    transcripts: tuple[Transcript, ...] = (NOTHING_FOUND,)
    stable: int = 0

    def then(self, searched: Searched, used: int) -> Hypotheses:
        """With the first `used` frames of a chunk."""
        pairs = zip(searched.parents, searched.transcripts, strict=True)
        return self._with(
            tuple(self.transcripts[parent].then(each.until(used)) for parent, each in pairs)
        )

    def until(self, frame: int) -> Hypotheses:
        """The first `frame` frames of the segment."""
        return Hypotheses()._with(tuple(each.until(frame) for each in self.transcripts))

    def alike(self, leading: int, labels: int) -> list[int]:
        """The hypotheses whose first labels are those of the leading one."""
        some = slice(self.stable, max(self.stable, labels))
        wanted = self.transcripts[leading].tokens[some]
        return [place for place, each in enumerate(self.transcripts) if each.tokens[some] == wanted]

    def only(self, places: Sequence[int]) -> Hypotheses:
        """Some of them, in their order."""
        if len(places) == len(self.transcripts):
            return self
        return self._with(tuple(self.transcripts[place] for place in places))

    def _with(self, transcripts: tuple[Transcript, ...]) -> Hypotheses:
        """Others, which begin with the stable labels too."""
        stable, least = self.stable, min(len(each.tokens) for each in transcripts)
        while stable < least and len({each.tokens[stable] for each in transcripts}) == 1:
            stable += 1
        return Hypotheses(transcripts, stable)


def search_over(
    beam: LabelBeam,
    lanes: Sequence[Lane],
    before: Sequence[BeamMemory],
    lm_weights: Sequence[float],
) -> None:
    """Give each lane what is found in its frames, as its output.

    Raises OutputNotFinite where the network's output is not finite; other lanes have theirs then.
    """
    chunks = [lane.encoded for lane in lanes]
    found = beam(chunks, before, [lane.stream.slot for lane in lanes], lm_weights)
    for lane, searched in zip(lanes, found, strict=True):
        if searched is not None:
            lane.output = searched_chunk(searched)
    if None in found:
        raise OutputNotFinite


def searched_chunk(found: SearchedChunk) -> Searched:
    """The labels of a chunk's hypotheses as stretches of frames."""
    return Searched(
        tuple(transcript_of_chunk(each) for each in found.hypotheses),
        tuple(each.parent for each in found.hypotheses),
        found.after,
    )
