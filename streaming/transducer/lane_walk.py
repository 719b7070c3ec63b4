"""One lane's walk over a chunk: the rules of greedy decoding, without a network.

Source: Bataev 2024, Algorithm 1; `max_symbols` of Galvez 2024; durations of Xu 2023, Algorithm 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from earshot.streaming.transducer.transcript import NO_BLANK, Transcript


@dataclass(frozen=True)
class Choice:
    """The joint's word on a frame. duration: in frames, None of an RNN-T.

    token: a label, or None for the blank. log_prob: of the one chosen.
    """

    token: int | None
    log_prob: float
    duration: int | None


@dataclass
class LaneWalk:
    """A walk over `length` frames; `frame` is where it stands.

    A label of duration 0 stays in its frame, as every label of an RNN-T does; after `max_symbols`
    labels in one frame the next frame comes. A blank advances by 1 at least.
    skipped_blank: the log-probability of the blank that made the last step, of a label none.
    """

    length: int
    max_symbols: int
    frame: int = 0
    skipped_blank: float = NO_BLANK
    _in_frame: int = 0
    _tokens: list[int] = field(default_factory=list)
    _frames: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)
    _log_probs: list[float] = field(default_factory=list)
    _blanks: list[float] = field(init=False)

    def __post_init__(self) -> None:
        ahead = min(self.frame, self.length)
        self._blanks = [self.skipped_blank] * ahead + [NO_BLANK] * (self.length - ahead)

    @property
    def ended(self) -> bool:
        """Whether no frame is left."""
        return self.frame >= self.length

    def take(self, choice: Choice) -> None:
        """Go on by what the joint says to the frame."""
        if choice.token is None:
            advance = max(choice.duration or 0, 1)
            self._pass_by(advance, choice.log_prob)
            return
        self._tokens.append(choice.token)
        self._frames.append(self.frame)
        self._ends.append(self.frame + (1 if choice.duration is None else choice.duration))
        self._log_probs.append(choice.log_prob)
        self._in_frame += 1
        is_full = self._in_frame >= self.max_symbols
        self._pass_by(choice.duration or int(is_full), NO_BLANK)

    def _pass_by(self, advance: int, blank_log_prob: float) -> None:
        if advance:
            passed = range(self.frame, min(self.frame + advance, self.length))
            self._blanks[passed.start : passed.stop] = [blank_log_prob] * len(passed)
            self.frame, self._in_frame = self.frame + advance, 0
            self.skipped_blank = blank_log_prob

    @property
    def transcript(self) -> Transcript:
        """The labels found."""
        return Transcript(
            tuple(self._tokens),
            tuple(self._frames),
            tuple(self._ends),
            tuple(self._log_probs),
            tuple(self._blanks),
        )
