"""What a realtime session is asked to do: `session.update`, of today's shape and of the beta's."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from earshot.service.audio.pcm import Encoding
from earshot.service.errors import BadRequest
from earshot.service.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)

_RATE_HZ = 24_000
_TELEPHONE_RATE_HZ = 8_000
_FORMATS: dict[str, tuple[Encoding, int]] = {
    "audio/pcm": ("linear16", _RATE_HZ),
    "audio/pcmu": ("mulaw", _TELEPHONE_RATE_HZ),
    "audio/pcma": ("alaw", _TELEPHONE_RATE_HZ),
    "pcm16": ("linear16", _RATE_HZ),
    "g711_ulaw": ("mulaw", _TELEPHONE_RATE_HZ),
    "g711_alaw": ("alaw", _TELEPHONE_RATE_HZ),
}
"""Types of today's, then names of the beta's; the rate where none is said."""
_TYPES: dict[Encoding, str] = {"linear16": "audio/pcm", "mulaw": "audio/pcmu", "alaw": "audio/pcma"}

_HEARD = ("model", "language", "keywords")
"""Of `transcription`; the rest is not done."""

_LONGEST_TURN_MS = 600_000
"""Where only a commit ends a turn: as long as a request may ask for."""

_EOT_THRESHOLDS = {"low": 0.85, "medium": None, "high": 0.6, "auto": None}
"""How sure it has to be that a turn is over, by a client's eagerness; None: as everywhere."""

_BETA = {
    "input_audio_format": "format",
    "input_audio_transcription": "transcription",
    "turn_detection": "turn_detection",
}
"""Keys of the beta's sessions, and what they are in `audio.input`."""


@dataclass(frozen=True)
class RealtimeWishes:
    """The parts of `audio.input` that mean something here, as the client wrote them.

    detects_turns: whether a pause ends a turn; else only a commit does.
    """

    encoding: Encoding = "linear16"
    rate_hz: int = _RATE_HZ
    transcription: Mapping[str, Any] | None = None
    turn_detection: Mapping[str, Any] | None = None
    detects_turns: bool = True

    def changed_by(self, session: object) -> "RealtimeWishes":
        """With what an update names. Raises BadRequest for what is no session of transcription."""
        if not isinstance(session, dict):
            raise BadRequest("session: must be an object")
        if session.get("type", "transcription") != "transcription":
            raise BadRequest(
                'session.type: this server only transcribes, it must be "transcription"'
            )
        audio = _part(_part(session, "audio"), "input")
        named = {new: session[old] for old, new in _BETA.items() if old in session} | dict(audio)
        changed = self
        if "format" in named:
            encoding, rate_hz = _format(named["format"])
            changed = replace(changed, encoding=encoding, rate_hz=rate_hz)
        if "transcription" in named:
            asked = _optional(named, "transcription")
            merged = None if asked is None else {**(self.transcription or {}), **asked}
            changed = replace(changed, transcription=merged)
        if "turn_detection" in named:
            asked = _optional(named, "turn_detection")
            changed = replace(changed, turn_detection=asked, detects_turns=asked is not None)
        return changed

    @property
    def phrases(self) -> list[str]:
        """Words to favour. Raises BadRequest for what are none."""
        asked = (self.transcription or {}).get("keywords") or []
        if not isinstance(asked, list) or not all(isinstance(each, str) for each in asked):
            raise BadRequest("transcription.keywords: must be a list of texts")
        return asked

    def parameters(self, rules: ParameterRules) -> ListenParameters:
        """The same as a request of ours. Raises BadRequest and InvalidStreamConfig."""
        transcription = self.transcription or {}
        asked = {
            "encoding": self.encoding,
            "sample_rate": self.rate_hz,
            "interim_results": "true",
            "vad_events": "true",
            "model": transcription.get("model"),
            "language": transcription.get("language"),
            **self._turns(),
        }
        query = [(name, f"{value}") for name, value in asked.items() if value is not None]
        query += [*rules.as_written, *(("keyterm", phrase) for phrase in self.phrases)]
        return parse_parameters(query, rules, is_file=False)

    def _turns(self) -> dict[str, object]:
        """Parameters that end turns. A silence that is named is the only thing that does."""
        if not self.detects_turns:
            return {"endpointing": "false", "max_utterance_ms": _LONGEST_TURN_MS}
        turns = self.turn_detection or {}
        if turns.get("type") == "semantic_vad":
            return {"eot_threshold": _eot_threshold(turns.get("eagerness", "auto"))}
        silence_ms = turns.get("silence_duration_ms")
        return {} if silence_ms is None else {"endpointing": silence_ms, "eot_threshold": "false"}

    def told(self, rules: ParameterRules) -> dict[str, object]:
        """The session as its client is told of it: what is done of what it has asked for."""
        transcription = {name: (self.transcription or {}).get(name) for name in _HEARD}
        asked = self.turn_detection or {}
        is_semantic = asked.get("type") == "semantic_vad" and rules.endpoint.detects_turns
        told = "eagerness" if is_semantic else "silence_duration_ms"
        turns = {"type": "semantic_vad" if is_semantic else "server_vad", told: asked.get(told)}
        return {
            "audio": {
                "input": {
                    "format": {"type": _TYPES[self.encoding], "rate": self.rate_hz},
                    "transcription": _without_nothing(transcription),
                    "noise_reduction": None,
                    "turn_detection": _without_nothing(turns) if self.detects_turns else None,
                }
            }
        }


def _eot_threshold(eagerness: object) -> float | None:
    if eagerness not in _EOT_THRESHOLDS:
        known = ", ".join(_EOT_THRESHOLDS)
        raise BadRequest(f"turn_detection.eagerness: must be one of {known}")
    return _EOT_THRESHOLDS[str(eagerness)]


def _without_nothing(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if value is not None}


def _part(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return _optional(value, name) or {}


def _optional(value: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    found = value.get(name)
    if found is not None and not isinstance(found, dict):
        raise BadRequest(f"{name}: must be an object")
    return found


def _format(asked: object) -> tuple[Encoding, int]:
    """Encoding and rate: the beta has a name, today's shape an object with a rate."""
    kind = asked.get("type") if isinstance(asked, dict) else asked
    if not isinstance(kind, str) or kind not in _FORMATS:
        raise BadRequest(f"format: {kind} is not served, audio/pcm, audio/pcmu and audio/pcma are")
    encoding, rate_hz = _FORMATS[kind]
    rate_hz = asked.get("rate", rate_hz) if isinstance(asked, dict) else rate_hz
    if type(rate_hz) is not int:
        raise BadRequest("format.rate: must be a whole number")
    return encoding, rate_hz
