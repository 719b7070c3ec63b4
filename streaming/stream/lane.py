"""A stream's row in the running batch, and a segment that ends in this step."""

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from earshot.streaming.events import FinalCause
from earshot.streaming.results.hypothesis import Hypothesis
from earshot.streaming.results.results import Scored, first_pass_scores
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.chunking import Cut
from earshot.streaming.stream.endpoint import Endpoint, FrameEvidence
from earshot.streaming.stream.rest import Division, Rest


@dataclass(eq=False)
class Ending:
    """A segment that is over.

    boundary: the encoder frame at which the next segment starts; None after a flush, where it
    starts afresh. rest: frames from there on that are encoded already, and not to be once more.
    hypotheses: what the first pass leaves, best first. scored: what the second pass makes of them.
    left: whether the stream has begun what comes after it. pause_frames: the silence that ended it.
    """

    stream: ActiveStream
    cause: FinalCause
    boundary: int | None
    hypotheses: list[Hypothesis]
    scored: list[Scored] = field(default_factory=list)
    second_pass_failed: bool = False
    left: bool = False
    rest: Rest | None = None
    pause_frames: int = 0

    def keep_first_pass(self) -> None:
        """The second pass has failed: what the first one leaves is the result."""
        self.scored = [first_pass_scores(hypothesis) for hypothesis in self.hypotheses]
        self.second_pass_failed = True

    def leave(self) -> None:
        """Begin what comes after the segment; once, however often its state is then reset."""
        if self.left:
            return
        self.left = True
        self.stream.lms.next_segment()
        if self.boundary is None:
            self.stream.end_flush()
        else:
            self.stream.restart(self.boundary, self.rest)

    @property
    def empty(self) -> bool:
        """Whether the first pass heard no word; the second is then not asked to imagine any."""
        return not self.hypotheses or not self.hypotheses[0].tokens


@dataclass(eq=False)
class Lane:
    """One stream in one step, filled in from stage to stage.

    encoded `(T, D)` comes from the encoder; output is what else the encoder leaves for its decoder,
    and theirs alone; both may be a `Rest`. moved: whether its state has gone on over them. An
    endpoint cuts both to `used` frames; those after it belong to the next segment, which decodes
    them again, or are its rest. division: where that is; once it is known the segment may become
    shorter, and is not to be divided again. eager: the ending that this pause may well be.
    """

    stream: ActiveStream
    cut: Cut
    waited_s: float = 0.0
    encoded: Tensor = field(init=False)
    output: Any = None
    moved: bool = False
    observed: bool = False
    in_padding: bool = False
    used: int = 0
    endpoint: Endpoint | None = None
    division: Division | None = None
    ending: Ending | None = None
    eager: Ending | None = None

    def observe(self, evidence: FrameEvidence) -> None:
        """Apply the endpoint rules, and give the segment the frames that belong to it; once.

        `evidence` is of all frames of the cut; only those that are `used` count.
        """
        if self.observed or not self.cut.frames:
            return
        assert len(evidence.silent) == len(evidence.spoken) == self.cut.frames
        self.observed = True
        detector = self.stream.segment.detector
        before = detector.frames
        self.in_padding = self.stream.in_padding(self.cut)
        if self.in_padding:
            detector.skip(evidence.spoken)
        else:
            self.endpoint = detector.observe(evidence)
        self.used = detector.frames - before
        self.stream.segment.extend(self.encoded[: self.used])
        self.stream.rest = None
