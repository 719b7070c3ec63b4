"""What a session of Flux asks for: read from its query, and changed by Configures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from earshot.service.deepgram.flux.turn_wishes import THRESHOLDS, TurnWishes
from earshot.service.errors import BadRequest
from earshot.service.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)
from earshot.service.request.query_values import QueryValues

_SET_HERE = (*THRESHOLDS, "interim_results")
_CHANGEABLE = ("type", "thresholds", "keyterms", "numerals")


@dataclass(frozen=True)
class FluxWishes:
    """Wishes that may change while a session runs. numerals: whether numbers are figures."""

    turns: TurnWishes
    keyterms: tuple[str, ...] = ()
    numerals: bool = False

    def changed_by(self, message: Mapping[str, object]) -> "FluxWishes":
        """With what a Configure names; null stays. Raises BadRequest."""
        named = {name: value for name, value in message.items() if value is not None}
        for name in named:
            if name not in _CHANGEABLE:
                raise BadRequest(f"{name}: cannot be changed here, nothing was")
        thresholds = named.get("thresholds", {})
        if not isinstance(thresholds, Mapping):
            raise BadRequest("thresholds: must be an object")
        return FluxWishes(
            self.turns.changed_by(thresholds),
            _texts(named.get("keyterms", self.keyterms)),
            _truth(named.get("numerals", self.numerals)),
        )


def flux_parameters(
    query: Sequence[tuple[str, str]], rules: ParameterRules
) -> tuple[ListenParameters, FluxWishes]:
    """Read Flux's query: its thresholds, and the parameters that it shares with /v1/listen.

    Raises BadRequest, InvalidStreamConfig.
    """
    values = QueryValues(query)
    if values.boolean("multichannel", False):
        raise BadRequest("multichannel: turns are of one channel; /v1/listen hears several apart")
    if (values.one("endpointing") or "").lower() == "false":
        raise BadRequest("endpointing=false: turns end; after how much silence eot_timeout_ms says")
    turns, numerals = TurnWishes.of_query(values), values.boolean("numerals", False)
    marks = "true" if rules.writes_marks else "false"
    defaults = {"punctuate": marks, "smart_format": "true" if numerals else "false"}
    asked = [
        *((name, value) for name, value in query if name not in _SET_HERE),
        *((name, value) for name, value in defaults.items() if values.one(name) is None),
        ("interim_results", "true"),
    ]
    parameters = parse_parameters(asked, rules, is_file=False)
    stream = replace(parameters.stream, endpoint=turns.endpoint(parameters.stream.endpoint))
    warnings = (*parameters.warnings, *rules.endpoint.warnings(values, THRESHOLDS))
    wishes = FluxWishes(turns, parameters.keyterms, parameters.writing.smart_format)
    return replace(parameters, stream=stream, warnings=warnings), wishes


def _texts(value: object) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
        raise BadRequest("keyterms: must be a list of texts")
    return tuple(texts)


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise BadRequest("numerals: must be true or false")
    return value
