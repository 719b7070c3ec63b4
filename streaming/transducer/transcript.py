"""The labels that a transducer has found in a stretch of encoder frames."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, replace

from earshot.streaming.stream.endpoint import FrameEvidence


@dataclass(frozen=True)
class Transcript:
    """Labels in `length` frames; see `FoundTokens`.

    frames, ends: where each label was found, and the frame after its last (RNN-T: the next, TDT: by
    its duration; it may lie behind the stretch). blank_log_probs: of each frame, the blank's that
    passed it.
    """

    tokens: tuple[int, ...] = ()
    frames: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    token_log_probs: tuple[float, ...] = ()
    blank_log_probs: tuple[float, ...] = ()

    @property
    def length(self) -> int:
        """Frames of the stretch."""
        return len(self.blank_log_probs)

    @property
    def score(self) -> float:
        """The labels' log-probability."""
        return sum(self.token_log_probs)

    def says_as(self, other: Transcript) -> bool:
        """Whether both have the same labels, in the same frames and as likely.

        Of labels that came from one transcript to both none is looked at: they are the same
        objects.
        """
        return (
            self.tokens == other.tokens
            and self.frames == other.frames
            and self.ends == other.ends
            and self.token_log_probs == other.token_log_probs
        )

    def then(self, later: Transcript) -> Transcript:
        """This stretch and the one after it as one."""
        return Transcript(
            self.tokens + later.tokens,
            self.frames + tuple(self.length + frame for frame in later.frames),
            self.ends + tuple(self.length + frame for frame in later.ends),
            self.token_log_probs + later.token_log_probs,
            self.blank_log_probs + later.blank_log_probs,
        )

    def until(self, frame: int) -> Transcript:
        """The first `frame` frames of the stretch."""
        labels = self._labels(slice(self._count_before(frame)))
        return replace(labels, blank_log_probs=self.blank_log_probs[:frame])

    def since(self, frame: int) -> Transcript:
        """The stretch from `frame` on."""
        labels = self._labels(slice(self._count_before(frame), None))
        return replace(
            labels,
            frames=tuple(each - frame for each in labels.frames),
            ends=tuple(each - frame for each in labels.ends),
            blank_log_probs=self.blank_log_probs[frame:],
        )

    def labels_from(self, place: int) -> Transcript:
        """The same stretch without the first `place` labels."""
        return self._labels(slice(place, None))

    def _labels(self, some: slice) -> Transcript:
        return Transcript(
            self.tokens[some],
            self.frames[some],
            self.ends[some],
            self.token_log_probs[some],
            self.blank_log_probs,
        )

    def _count_before(self, frame: int) -> int:
        return sum(each < frame for each in self.frames)

    @property
    def closed(self) -> Transcript:
        """The stretch by itself: no label lasts beyond it."""
        return replace(self, ends=tuple(min(each, self.length) for each in self.ends))

    def evidence(
        self,
        blank_threshold: float,
        turn_ends: Container[int] = (),
        unspoken: Container[int] = (),
    ) -> FrameEvidence:
        """Silent is a frame whose P(blank) is above the threshold, spoken one that holds a word's.

        turn_ends: labels that say that the speaker has finished. unspoken: others that nobody says,
        such as marks.
        """
        threshold = math.log(blank_threshold)
        spoken, ended = [False] * self.length, [False] * self.length
        for token, frame in zip(self.tokens, self.frames, strict=True):
            said = token not in turn_ends and token not in unspoken
            spoken[frame] = spoken[frame] or said
            ended[frame] = ended[frame] or token in turn_ends
        silent = [log_prob > threshold for log_prob in self.blank_log_probs]
        return FrameEvidence(silent, spoken, ended)


NOTHING_FOUND = Transcript()
