"""What a stream tells its sink. All times are seconds of the stream's own audio.

A stream's events arrive in order, on the engine thread. `Closed` or `Failed` is always the last
one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from earshot.streaming.errors import StreamingError

FinalCause: TypeAlias = Literal["endpoint", "max_utterance", "finalize", "end"]


@dataclass(frozen=True)
class Word:
    """One recognised word; `boosted` when a complete boosted phrase covers it.

    `read_out`: all such phrases are said otherwise than the request wrote them ("2026").
    `written`: the word as people write it here, with its capitals and the mark after it ("Mr.",
    "$5"); None where nothing has said so, and the text is all there is.
    """

    text: str
    start_s: float
    end_s: float
    confidence: float
    boosted: bool = False
    read_out: bool = field(default=False, kw_only=True)
    written: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Alternative:
    """One hypothesis. `score` is a natural-log score, comparable only within its n-best list."""

    text: str
    words: tuple[Word, ...]
    confidence: float
    score: float


@dataclass(frozen=True)
class Partial:
    """What the current segment says so far; its first `stable_words` words will not change.

    "Stable" means that every hypothesis in the beam agrees on them. Rescoring picks among those and
    so keeps them, and so does another search after `Stream.configure`; only mode "attention", which
    searches anew, may not.
    """

    start_s: float
    duration_s: float
    alternatives: tuple[Alternative, ...]
    stable_words: int


@dataclass(frozen=True)
class Final:
    """What a segment said, best alternative first; never revised.

    Finals of one stream follow each other in time; audio between two finals held no words.
    `speech_final` is set where the speaker stopped (every cause but "max_utterance").
    `second_pass_failed`: what the first pass has found, because the second one raised.
    `pause_s`: the silence in which a segment ended, 0 where nobody waited for one.
    `end_of_turn_confidence`: how likely the speaker has finished, after that silence; None where
    there was none, or nobody asked.
    """

    start_s: float
    duration_s: float
    alternatives: tuple[Alternative, ...]
    speech_final: bool
    from_finalize: bool
    cause: FinalCause
    second_pass_failed: bool = False
    pause_s: float = 0.0
    end_of_turn_confidence: float | None = None


@dataclass(frozen=True)
class EagerEndOfTurn:
    """A pause in which the speaker may well have finished (`TurnConfig.eager_confidence`).

    `final`: as it would be if the segment ended here, up to the audio that has been decoded; the
    one that comes ends within the pause, and may have other words, as of a segment that is heard as
    a whole. It follows, or `TurnResumed`.
    """

    final: Final


@dataclass(frozen=True)
class TurnResumed:
    """Speech went on behind an `EagerEndOfTurn`; `time_s` was decoded when that was seen."""

    time_s: float


@dataclass(frozen=True)
class SpeechStarted:
    """Speech was heard after silence (`StreamConfig.vad_events`)."""

    time_s: float


@dataclass(frozen=True)
class UtteranceEnd:
    """No word for `StreamConfig.utterance_end_ms`; every word before it is in a `Final` already."""

    last_word_end_s: float


@dataclass(frozen=True)
class UnboostablePhrase:
    """A phrase of `StreamConfig.boosts` or `Stream.configure` that is decoded without its boost."""

    phrase: str
    reason: str


@dataclass(frozen=True)
class LeftOutMember(UnboostablePhrase):
    """A member of a class of entities that cannot be spelled: the others share what it had.

    phrase: the member.
    """

    class_name: str


BoostUnit: TypeAlias = Literal["word", "token"]
"""What earns the weight of a phrase: each of its words in a graph, else each of its tokens."""


@dataclass(frozen=True)
class LimitedBoost:
    """A phrase of `StreamConfig.boosts` or `Stream.configure` whose weight counts as less.

    effective_weight: nats that each unit of it earns at most, or costs where it is negative.
    """

    phrase: str
    weight: float
    effective_weight: float
    unit: BoostUnit


BoostWarning: TypeAlias = UnboostablePhrase | LimitedBoost


@dataclass(frozen=True)
class Configured:
    """Answers `Stream.configure`: what was asked holds from the current segment on."""

    warnings: tuple[BoostWarning, ...]


@dataclass(frozen=True)
class NotConfigured:
    """Answers `Stream.configure` where the engine cannot serve what was asked: nothing changed."""

    reason: str


@dataclass(frozen=True)
class Described:
    """Answers `Describe`.

    search: its name. steps: chunks decoded. worst_wait_s: the longest that a chunk was ready before
    its step. search_counts: see `SearchCounts`; those of segments that are over.
    """

    slot: int
    search: str
    steps: int
    worst_wait_s: float
    search_counts: Mapping[str, int]


@dataclass(frozen=True)
class RoomAvailable:
    """Follows a `BacklogFull`, once: at least half of the backlog is free again."""

    room_s: float


@dataclass(frozen=True)
class Closed:
    """The stream ended as asked (`finish` or `cancel`), after `duration_s` of decoded audio."""

    duration_s: float


@dataclass(frozen=True)
class Failed:
    """The stream ended by itself: `DecodingFailed`, or `EngineStopped` with its engine."""

    error: StreamingError


Answer: TypeAlias = Configured | NotConfigured | Described
"""Ends a request of the same stream, as does a final that was asked for."""

Event: TypeAlias = (
    Partial
    | Final
    | EagerEndOfTurn
    | TurnResumed
    | SpeechStarted
    | UtteranceEnd
    | UnboostablePhrase
    | LimitedBoost
    | Answer
    | RoomAvailable
    | Closed
    | Failed
)
