"""What one stream asks for, checked once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from earshot.language.text.unicode_text import is_unicode
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.weights import Weights, check_weights

WHOLE = math.inf
"""As `StreamConfig.chunk_ms`: finals hear their segment as a whole."""

WHOLE_NAME = "whole"

MIN_SILENCE_MS = 300
"""CTC spikes are sparse: blank runs just shorter than this happen inside words."""


def chunk_name(chunk_ms: float) -> str:
    """A chunk as requests name it: its milliseconds, or "whole"."""
    return WHOLE_NAME if chunk_ms == WHOLE else f"{chunk_ms:g}"


def check_chunk(chunk_ms: float | None, chunks_ms: Sequence[float]) -> None:
    """Raises InvalidStreamConfig for a chunk that is none of those that there are."""
    if chunk_ms is not None and chunk_ms not in chunks_ms:
        known = ", ".join(map(chunk_name, chunks_ms))
        raise InvalidStreamConfig(f"chunk is {chunk_name(chunk_ms)}, there are: {known}")


class StreamPriority(StrEnum):
    """Who waits when there is more work than one step holds."""

    LIVE = "live"
    FILE = "file"


@dataclass(frozen=True)
class Boost:
    """A phrase to favour; `weight` is the bonus per token of the phrase, natural log.

    A negative weight disfavours the phrase.
    """

    phrase: str
    weight: float = 8.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.weight):
            raise InvalidStreamConfig(f"the weight of {self.phrase!r} is {self.weight}")
        if not is_unicode(self.phrase):
            raise InvalidStreamConfig(f"{self.phrase!r} has letters that are none in Unicode")


@dataclass(frozen=True)
class TurnConfig:
    """When a shorter pause ends an utterance, where what was said is likely to be all.

    confidence: how likely that has to be; at 1 no shorter pause does. least_ms: the pause has to
        last so long in any case. Raised to 300 if below.
    eager_confidence: how likely it has to be to be told before (`EagerEndOfTurn`); None: never.
    """

    confidence: float = 0.75
    least_ms: int = MIN_SILENCE_MS
    eager_confidence: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.confidence <= 1.0:
            raise InvalidStreamConfig(f"eot_threshold is {self.confidence}, not in (0, 1]")
        if self.eager_confidence is not None and not 0.0 < self.eager_confidence < 1.0:
            raise InvalidStreamConfig(
                f"eager_eot_threshold is {self.eager_confidence}, not in (0, 1)"
            )
        if self.least_ms < 0:
            raise InvalidStreamConfig(f"least_ms is {self.least_ms}, must not be negative")
        object.__setattr__(self, "least_ms", max(self.least_ms, MIN_SILENCE_MS))


@dataclass(frozen=True)
class EndpointConfig:
    """Where an utterance ends (WeNet's three rules, on what the decoder knows of each frame).

    silence_ms: pause after speech that ends the utterance; None never does. Raised to 300 if below.
    turn: shorter pauses that do; None: no shorter one does.
    no_speech_ms: after so long without any speech the segment restarts, silently.
    max_utterance_ms: longer utterances are cut at a word boundary. The engine may hold less.
    blank_threshold: a frame is silent when P(blank) is above it, where a decoder has one.
    """

    silence_ms: int | None = 1000
    no_speech_ms: int = 5000
    max_utterance_ms: int = 20000
    blank_threshold: float = 0.8
    turn: TurnConfig | None = None

    def __post_init__(self) -> None:
        if self.silence_ms is not None:
            if self.silence_ms < 0:
                raise InvalidStreamConfig(f"silence_ms is {self.silence_ms}, must not be negative")
            object.__setattr__(self, "silence_ms", max(self.silence_ms, MIN_SILENCE_MS))
        if self.no_speech_ms < 1000:
            raise InvalidStreamConfig(f"no_speech_ms is {self.no_speech_ms}, must be 1000 or more")
        if self.max_utterance_ms < 2000:
            raise InvalidStreamConfig(
                f"max_utterance_ms is {self.max_utterance_ms}, must be 2000 or more"
            )
        if not 0.0 < self.blank_threshold < 1.0:
            raise InvalidStreamConfig(f"blank_threshold is {self.blank_threshold}, not in (0, 1)")


@dataclass(frozen=True)
class StreamConfig:
    """Options of one stream.

    mode: how the recogniser decodes, by its own names (`ModelDescription.modes`); None takes the
        first of them. It is the engine that refuses a mode it does not have.
    chunk_ms: audio between two steps, one of `ModelDescription.chunks_ms`; None takes the engine's.
        A change counts from the next segment on.
    weights: how much the scorers of a hypothesis count, see `weights.py`.
    parts: what else is asked of the model's parts, by parameter (`streaming/parts`). It holds for
        the whole stream, and the engine refuses what it has no part for.
    punctuate: whether words get written forms (`Word.written`), where there is what knows them.
    language: BCP 47 tag of what is spoken, one of `ModelDescription.languages` where the model says
        them; None leaves it to the model, which finds out where it can. One that knows a single
        language does not look.
    utterance_end_ms: send `UtteranceEnd` after so long without a word; an utterance then ends after
        this pause at the latest, whatever `endpoint.silence_ms` says, so that its words are final.
    """

    mode: str | None = None
    interim_results: bool = True
    alternatives: int = 1
    endpoint: EndpointConfig = field(default_factory=EndpointConfig)
    utterance_end_ms: int | None = None
    vad_events: bool = False
    boosts: tuple[Boost, ...] = ()
    graph: GraphOptions = field(default_factory=GraphOptions)
    chunk_ms: float | None = None
    weights: Weights = field(default_factory=dict)
    parts: Mapping[str, object] = field(default_factory=dict)
    punctuate: bool = False
    language: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.alternatives <= 100:
            raise InvalidStreamConfig(f"alternatives is {self.alternatives}, must be 1 to 100")
        if self.utterance_end_ms is not None and self.utterance_end_ms < MIN_SILENCE_MS:
            raise InvalidStreamConfig(
                f"utterance_end_ms is {self.utterance_end_ms}, must be {MIN_SILENCE_MS} or more"
            )
        check_weights(self.weights)

    @property
    def pause_ms(self) -> int | None:
        """The silence after speech that ends an utterance; None never does."""
        pauses = (self.endpoint.silence_ms, self.utterance_end_ms)
        return min((pause for pause in pauses if pause is not None), default=None)
