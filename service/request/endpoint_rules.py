"""Where utterances end: what the operator sets, and what a request asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from earshot.service.request.query_values import QueryValues
from earshot.service.request.request_warning import RequestWarning
from earshot.service.request.unserved import unsupported
from earshot.service.settings import Settings
from earshot.streaming.stream_config import MIN_SILENCE_MS, EndpointConfig, TurnConfig

PLAIN_SILENCE_MS = 1000
"""The pause that ends an utterance where nothing tells how likely it is over."""
MOST_MS = 60_000
LEAST_THRESHOLD, MOST_THRESHOLD = 0.3, 0.99

CANNOT_TELL = "this model cannot tell whether a turn is over; a pause ends it (endpointing)"


@dataclass(frozen=True)
class EndpointRules:
    """The operator's settings, see `Settings`; detects_turns: whether the model can tell."""

    silence_ms: int | None = None
    eot_threshold: float = 0.75
    eot_timeout_ms: int = 1400
    detects_turns: bool = False

    @classmethod
    def of(cls, settings: Settings, *, detects_turns: bool) -> EndpointRules:
        """Take them from the settings."""
        return cls(
            settings.silence_ms, settings.eot_threshold, settings.eot_timeout_ms, detects_turns
        )

    @property
    def plain(self) -> EndpointConfig:
        """One pause ends an utterance, whatever was said."""
        return _plain(self.silence_ms)

    @property
    def live(self) -> EndpointConfig:
        """The end of live utterances where nobody asks for anything else."""
        return self._turns(self.silence_ms, self.eot_threshold, self.eot_timeout_ms)

    def asked(self, values: QueryValues, *, is_file: bool) -> EndpointConfig:
        """What a request asks for. Raises BadRequest."""
        if (values.one("endpointing") or "").lower() == "false":
            return EndpointConfig(silence_ms=None)
        asked_ms, threshold = _least_ms(values), self._threshold(values)
        least_ms = self.silence_ms if asked_ms is None else asked_ms
        timeout_ms = values.integer("eot_timeout_ms", 500, MOST_MS, self.eot_timeout_ms)
        if is_file or threshold is None:
            return _plain(least_ms)
        return self._turns(least_ms, threshold, timeout_ms)

    def warnings(
        self, values: QueryValues, names: Sequence[str] = ("eot_threshold", "eot_timeout_ms")
    ) -> list[RequestWarning]:
        """For who asks, by parameters of these names, for more than the model can tell."""
        if self.detects_turns:
            return []
        return [unsupported(name, CANNOT_TELL) for name in names if values.one(name) is not None]

    def _threshold(self, values: QueryValues) -> float | None:
        if (values.one("eot_threshold") or "").lower() == "false":
            return None
        asked = values.optional_number("eot_threshold", LEAST_THRESHOLD, MOST_THRESHOLD)
        return self.eot_threshold if asked is None else asked

    def _turns(self, least_ms: int | None, threshold: float, timeout_ms: int) -> EndpointConfig:
        if not self.detects_turns:
            return _plain(least_ms)
        turn = TurnConfig(threshold, MIN_SILENCE_MS if least_ms is None else least_ms)
        return EndpointConfig(silence_ms=max(turn.least_ms, timeout_ms), turn=turn)


def _plain(silence_ms: int | None) -> EndpointConfig:
    return EndpointConfig(PLAIN_SILENCE_MS if silence_ms is None else silence_ms)


def _least_ms(values: QueryValues) -> int | None:
    if (values.one("endpointing") or "").lower() == "true":
        return None
    return values.integer_from("endpointing", MIN_SILENCE_MS, MOST_MS)
