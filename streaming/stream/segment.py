"""What a stream knows of its audio between two boundaries; at each it gets a fresh one."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from earshot.streaming.results.kept_words import NO_WORDS, KeptWords
from earshot.streaming.stream.endpoint import EndpointDetector, LikelyEnd


@dataclass
class Segment:
    """start_frame: the segment's first frame in its feature track. Bounded by `max_utterance_ms`.

    encoded: encoder frames `(T_i, D)` of each step, for the second pass and for searches done
    again.
    shown: text and stable words of the last partial, so that only changes are told.
    asked_end: the pause of which it was asked what its final would say, if it ended the turn.
    told_end: the pause of which it was told that the turn may well be over, until speech goes on.
    kept: words that have been called stable before the segment was searched anew.
    chunk_ms: what the stream asked for when the segment began.
    search_state: what the stream's search keeps here, and nobody else looks at.
    """

    start_frame: int
    detector: EndpointDetector
    encoded: list[Tensor] = field(default_factory=list)
    frames: int = 0
    shown: tuple[str, int] = ("", 0)
    asked_end: LikelyEnd | None = None
    told_end: LikelyEnd | None = None
    kept: KeptWords = NO_WORDS
    chunk_ms: float | None = None
    search_state: object = None

    @property
    def ends_eagerly(self) -> bool:
        """Whether its turn may well be over, and nobody has asked in this pause what it says."""
        detector = self.detector
        return detector.is_likely_end and self.asked_end is not detector.likely_end

    def extend(self, encoded: Tensor) -> None:
        """Take encoder frames `(T, D)`."""
        self.encoded.append(encoded)
        self.frames += len(encoded)

    def truncate(self, frames: int) -> None:
        """Keep the first `frames` encoder frames."""
        self.encoded = [self.memory()[:frames]]
        self.frames = frames
        self.kept = self.kept.until(frames)

    def latest(self, count: int) -> Tensor:
        """The last `count` encoder frames `(T, D)`, or all; there must be some."""
        steps = 1
        while steps < len(self.encoded) and sum(map(len, self.encoded[-steps:])) < count:
            steps += 1
        return torch.cat(self.encoded[-steps:])[-count:]

    def memory(self) -> Tensor:
        """All encoder frames `(T, D)`; there must be some."""
        if len(self.encoded) > 1:
            self.encoded = [torch.cat(self.encoded)]
        return self.encoded[0]
