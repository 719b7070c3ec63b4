"""What a client of vosk-server asks for, in the `config` before its audio."""

from dataclasses import dataclass, replace
from typing import Any

from earshot.service.errors import BadRequest
from earshot.service.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)

DEFAULT_RATE_HZ = 8000
"""Of vosk-server, for clients that do not say it."""

MOST_ALTERNATIVES = 10
_SHOWN = 50
"""Of a wrong value, characters that are told back."""

UNKNOWN_WORD = "[unk]"
"""Vosk's word for all others, in a list of phrases."""


@dataclass(frozen=True)
class VoskConfig:
    """What a `config` asks for. Raises BadRequest for what is none."""

    sample_rate_hz: int = DEFAULT_RATE_HZ
    phrases: tuple[str, ...] = ()
    words: bool = True
    alternatives: int = 0

    def changed_by(self, config: object) -> "VoskConfig":
        """With what a message names; what Vosk has besides is ignored."""
        if not isinstance(config, dict):
            raise BadRequest("config: must be an object")
        named: dict[str, Any] = {}
        if "sample_rate" in config:
            named["sample_rate_hz"] = _whole("sample_rate", config["sample_rate"])
        if "phrase_list" in config:
            named["phrases"] = _phrases(config["phrase_list"])
        if "words" in config:
            named["words"] = _switch("words", config["words"])
        if "max_alternatives" in config:
            asked = _whole("max_alternatives", config["max_alternatives"])
            named["alternatives"] = min(max(0, asked), MOST_ALTERNATIVES)
        return replace(self, **named)

    def parameters(self, rules: ParameterRules) -> ListenParameters:
        """The same as a request of ours. Raises BadRequest and InvalidStreamConfig."""
        query = [
            ("encoding", "linear16"),
            ("sample_rate", f"{self.sample_rate_hz}"),
            ("interim_results", "true"),
            ("alternatives", f"{max(1, self.alternatives)}"),
            *(("keyterm", phrase) for phrase in self.phrases),
        ]
        return parse_parameters(query, rules, is_file=False)


def _whole(name: str, value: object) -> int:
    """Vosk's clients write 16000, 16000.0 and "16000"."""
    try:
        number = float(value)  # type: ignore[arg-type]
        if number != (whole := int(number)):
            raise ValueError
    except (TypeError, ValueError, OverflowError) as error:
        raise BadRequest(f"{name}: {str(value)[:_SHOWN]!r} is no whole number") from error
    return whole


def _switch(name: str, value: object) -> bool:
    """Vosk's clients write true and 1."""
    if not isinstance(value, bool | int):
        raise BadRequest(f"{name}: must be true or false")
    return bool(value)


def _phrases(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadRequest("phrase_list: must be a list of texts")
    return tuple(each for each in value if each.strip() and each != UNKNOWN_WORD)
