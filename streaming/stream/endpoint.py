"""Where a segment ends: WeNet's three rules, applied to every frame that a decoder tells of.

A fourth rule is of models that say themselves when a turn is over (NeMo's `<EOU>`), unless no pause
is to end an utterance. A fifth ends an utterance in a shorter pause where what was said is likely
to be all (`streaming/turns`).

Source: WeNet `runtime/core/decoder/ctc_endpoint.cc` (trailing silence after speech, silence without
speech, length). WeNet looks once per chunk, after the search; here every frame counts, so that an
utterance ends at the same frame whatever the chunk size and speech that follows a pause inside one
chunk goes to the next segment. CTC knows its blanks before it searches, and searches no frame
behind an endpoint; a decoder that learns them by its walk (a transducer) drops what it has found
there (`Recognizer.decode`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Literal, TypeAlias

from earshot.streaming.stream_config import StreamConfig

EndpointRule: TypeAlias = Literal["silence", "turn", "no_speech", "turn_end", "max_utterance"]

MAX_REPLAYED_SILENCE_MS = 400
"""At most so much of a pause is given to the segment after it, for the onset of its first word."""


@dataclass(frozen=True)
class Endpoint:
    """A rule has fired after `frames` frames of the segment, the last `blank_run` silent."""

    rule: EndpointRule
    frames: int
    blank_run: int


@dataclass(frozen=True, eq=False)
class LikelyEnd:
    """The end of a turn that one pause may be, by who knows the text.

    confidence: how likely the turn is over, after a pause of so many milliseconds. eager_ms: after
    how long that is told although the segment goes on.
    """

    confidence: Callable[[float], float]
    eager_ms: float = math.inf


@dataclass(frozen=True)
class FrameEvidence:
    """What a decoder knows of the new frames: whether each is silent, and whether a token began.

    silent: surely no speech. spoken: rather a token than none. A frame may be neither.
    turn_ended: whether the decoder says that the speaker has finished; () of one that never does.
    """

    silent: Sequence[bool]
    spoken: Sequence[bool]
    turn_ended: Sequence[bool] = ()


class EndpointDetector:
    """Watches one segment."""

    def __init__(self, config: StreamConfig, frame_ms: float, max_utterance_ms: int) -> None:
        self._frame_ms, self._max_utterance_ms = frame_ms, max_utterance_ms
        self.frames = 0
        self.blank_run = 0
        self.speech_frame: int | None = None
        self._awaited: float | None = None
        self.likely_end: LikelyEnd | None = None
        self.go_by(config)

    def go_by(self, config: StreamConfig) -> None:
        """Take the rules' lengths from a config; a pause that is awaited already keeps its own."""
        endpoint, pause_ms, frame_ms = config.endpoint, config.pause_ms, self._frame_ms
        self._silence_frames = math.inf if pause_ms is None else pause_ms / frame_ms
        self._no_speech_frames = endpoint.no_speech_ms / frame_ms
        self._max_frames = min(endpoint.max_utterance_ms, self._max_utterance_ms) / frame_ms

    @property
    def asks(self) -> bool:
        """Whether somebody who knows the text is to say how long this pause may be (`expect`)."""
        paused = self.speech_frame is not None and self.blank_run > 0
        return paused and self._awaited is None and self._silence_frames < math.inf

    @property
    def due(self) -> int | None:
        """Silent frames to come until this pause ends the segment, or is told to be a likely end.

        None where nobody has said.
        """
        if self._awaited is None:
            return None
        awaited = self._awaited
        if self.likely_end is not None and not self.is_likely_end:
            awaited = min(awaited, self.likely_end.eager_ms / self._frame_ms)
        return max(math.ceil(awaited) - self.blank_run, 1)

    @property
    def is_likely_end(self) -> bool:
        """Whether this pause has lasted until it is told that the turn may well be over."""
        likely = self.likely_end
        return likely is not None and self.blank_run >= likely.eager_ms / self._frame_ms

    @property
    def confidence(self) -> float | None:
        """How likely the turn is over after this pause so far; None where nobody has said."""
        if self.likely_end is None:
            return None
        return self.likely_end.confidence(self.blank_run * self._frame_ms)

    def expect(self, pause_ms: float, likely_end: LikelyEnd | None = None) -> Endpoint | None:
        """This pause ends the segment when it has lasted so long; it may have done so already.

        It never takes longer than the silence that ends any utterance.
        """
        self._awaited = min(pause_ms / self._frame_ms, self._silence_frames)
        self.likely_end = likely_end
        if self.blank_run < self._awaited:
            return None
        return Endpoint("turn", self.frames, self.blank_run)

    def observe(self, evidence: FrameEvidence) -> Endpoint | None:
        """Walk over new frames up to the one where a rule fires."""
        ended = evidence.turn_ended or repeat(False, len(evidence.silent))
        for silent, spoken, turn_ended in zip(evidence.silent, evidence.spoken, ended, strict=True):
            if spoken and self.speech_frame is None:
                self.speech_frame = self.frames
            self.frames += 1
            self._count(is_quiet=silent and not spoken)
            if (rule := self._fired(turn_ended)) is not None:
                return Endpoint(rule, self.frames, self.blank_run)
        return None

    def reconsider(self, evidence: FrameEvidence) -> None:
        """Take the decoder's new mind of the frames so far; rules go by it from the next one on.

        Speech that has begun stays so.
        """
        assert len(evidence.spoken) == self.frames
        if self.speech_frame is None and True in evidence.spoken:
            self.speech_frame = list(evidence.spoken).index(True)
        pairs = zip(evidence.silent, evidence.spoken, strict=True)
        quiet = [silent and not spoken for silent, spoken in pairs]
        self.blank_run = quiet[::-1].index(False) if False in quiet else len(quiet)
        if not self.blank_run:
            self._awaited = self.likely_end = None

    def skip(self, spoken: Sequence[bool]) -> None:
        """Walk over frames of a flush, whose end is the segment's end whatever the rules say."""
        if self.speech_frame is None and True in spoken:
            self.speech_frame = self.frames + list(spoken).index(True)
        if True in spoken:
            self.blank_run, self._awaited, self.likely_end = 0, None, None
        self.frames += len(spoken)

    def _count(self, *, is_quiet: bool) -> None:
        self.blank_run = self.blank_run + 1 if is_quiet else 0
        if not is_quiet:
            self._awaited = self.likely_end = None

    def _fired(self, turn_ended: bool) -> EndpointRule | None:
        spoken = self.speech_frame is not None
        if turn_ended and spoken and self._silence_frames < math.inf:
            return "turn_end"
        if self._awaited is not None and self.blank_run >= self._awaited:
            return "turn" if self._awaited < self._silence_frames else "silence"
        if spoken and self._awaited is None and self.blank_run >= self._silence_frames:
            return "silence"
        if self.blank_run >= self._no_speech_frames:
            return "no_speech"
        return "max_utterance" if self.frames >= self._max_frames else None


def pause_boundary(endpoint: Endpoint, frame_ms: float) -> int:
    """The frame in the middle of the pause, at most 400 ms before the frame that ended it."""
    return endpoint.frames - min(endpoint.blank_run // 2, int(MAX_REPLAYED_SILENCE_MS / frame_ms))
