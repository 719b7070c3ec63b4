"""Knocks heard by a decoder that keeps its state in slots, and knows of silence by its walk."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from knock_recognizer import LOUD, KnockRecognizer, Knocks, knocks_as_evidence
from torch import Tensor

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Ending, Lane


@dataclass
class Walk:
    """What a slot holds: frames walked over, the last one's loudness, where knocks have begun."""

    frames: int = 0
    loud: bool = False
    knocks: list[int] = field(default_factory=list)

    def step(self, loudness: float) -> bool:
        """Whether a knock begins with this frame."""
        begins = loudness > LOUD and not self.loud
        if begins:
            self.knocks.append(self.frames)
        self.frames += 1
        self.loud = loudness > LOUD
        return begins

    def over(self, encoded: Tensor) -> list[bool]:
        """Step by step."""
        return [self.step(loudness) for loudness in encoded[:, 0].tolist()]


class WalkingRecognizer(KnockRecognizer):
    """See `Recognizer`; hears what `HumProofRecognizer` does. A transducer would go about it so."""

    def __init__(self, loaded: LoadedModel, config: EngineConfig) -> None:
        super().__init__(loaded, config)
        self._slots = [Walk() for _ in range(config.max_streams)]

    def decode(self, lanes: Sequence[Lane]) -> None:
        """All evidence is late, and what was found behind an endpoint is dropped."""
        for lane in lanes:
            if lane.cut.frames and not lane.observed:
                lane.observe(knocks_as_evidence(self._slots[lane.stream.slot].over(lane.encoded)))
                if lane.used < lane.cut.frames:
                    self.rewind(lane.stream)
            lane.ending = lane.ending or self.ending(lane)

    def decode_again(self, lanes: Sequence[Lane]) -> None:
        """From what the segment holds, which is this step's frames too where they were observed."""
        for lane in lanes:
            self.rewind(lane.stream)
        self.decode(lanes)

    def rewind(self, stream: ActiveStream) -> None:
        """Walk over the segment's frames alone."""
        self.free(stream)
        if stream.segment.frames:
            self._slots[stream.slot].over(stream.segment.memory())

    def heard(self, stream: ActiveStream) -> Knocks:
        return Knocks(tuple(self._slots[stream.slot].knocks))

    def restart(self, endings: Sequence[Ending]) -> None:
        super().restart(endings)
        for ending in endings:
            self.free(ending.stream)

    def free(self, stream: ActiveStream) -> None:
        self._slots[stream.slot] = Walk()
