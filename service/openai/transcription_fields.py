"""The fields of a transcription's form: OpenAI's by their names, and ours beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from earshot.service.errors import BadRequest
from earshot.service.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)
from earshot.service.request.query_values import QueryValues
from earshot.service.request.request_warning import RequestWarning
from earshot.service.request.unserved import unsupported
from earshot.service.sessions.json_object import object_of

AnswerFormat: TypeAlias = Literal["json", "text", "srt", "verbose_json", "vtt"]
FORMATS: tuple[AnswerFormat, ...] = get_args(AnswerFormat)
Granularity: TypeAlias = Literal["word", "segment"]
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)

_REFUSED = {
    "multichannel": "one text is told here; /v1/listen hears channels apart",
    "known_speaker_names": "speakers are not told apart here",
    "known_speaker_references": "speakers are not told apart here",
}
_IGNORED = {
    "alternatives": "one reading is told",
    "format": "response_format says it here",
    "paragraphs": "the text is one line",
    "include": "there are no probabilities of tokens; a segment's mean is in verbose_json",
    "languages": "the language is not detected",
    "prompt": "not read; words to favour come as keywords",
    "temperature": "nothing is drawn by chance here",
}
"""Fields whose wish is not done, with what happens instead."""

_OURS = {"keywords": "keyterm"}
"""Fields that have another name in what all protocols share."""

_OWN = ("response_format", "stream", "timestamp_granularities", "chunking_strategy")
_AUTO = "auto"
_STRATEGY_CHARS = 1000
_NO_WISH = ("false", "0")


@dataclass(frozen=True)
class TranscriptionFields:
    """One request's wishes, checked. streams: whether the answer comes as events."""

    parameters: ListenParameters
    format: AnswerFormat
    granularities: frozenset[Granularity]
    streams: bool


def read_fields(fields: Sequence[tuple[str, str]], rules: ParameterRules) -> TranscriptionFields:
    """Read the names and values of a form; what is not OpenAI's is a parameter of ours.

    OpenAI's models write capitals, marks and figures, and so do texts here unless a form declines.

    Raises:
        BadRequest: a value cannot be served; the message names the field, or the parameter of ours
            that it becomes.
        earshot.streaming.errors.InvalidStreamConfig: a number is out of the engine's range.
    """
    named = [(name.removesuffix("[]"), value) for name, value in fields]
    own = QueryValues(named)
    for name, why in _REFUSED.items():
        if any(value.lower() not in _NO_WISH for value in own.all(name)):
            raise BadRequest(f"{name}: {why}")
    endpoint, of_strategy = _chunking(own.one("chunking_strategy"))
    parameters = parse_parameters([*_ours(named, rules), *endpoint], rules, is_file=True)
    warnings = (*_in_vain(own), *of_strategy, *parameters.warnings)
    return TranscriptionFields(
        parameters=replace(parameters, warnings=warnings),
        format=_format(own),
        granularities=_granularities(own.all("timestamp_granularities")),
        streams=own.boolean("stream", False),
    )


def _format(own: QueryValues) -> AnswerFormat:
    found = own.choice("response_format", FORMATS, "json")
    if found != "json" and own.boolean("stream", False):
        raise BadRequest(f"response_format={found}: with stream=true it must be json")
    return found


def _ours(fields: Iterable[tuple[str, str]], rules: ParameterRules) -> list[tuple[str, str]]:
    """The fields that all protocols share, by the names that they share."""
    given = [
        (_OURS.get(name, name), value)
        for name, value in fields
        if name not in _IGNORED and name not in _OWN
    ]
    names = {name for name, _ in given}
    return [*given, *(each for each in rules.as_written if each[0] not in names)]


def _granularities(asked: Sequence[str]) -> frozenset[Granularity]:
    known = frozenset(each for each in GRANULARITIES if each in asked)
    if unknown := set(asked) - known:
        raise BadRequest(
            f"timestamp_granularities={min(unknown)}: must be one of {', '.join(GRANULARITIES)}"
        )
    return known or frozenset({"segment"})


def _in_vain(own: QueryValues) -> list[RequestWarning]:
    told = [unsupported(name, why) for name, why in _IGNORED.items() if _asks(own.all(name), name)]
    if own.all("timestamp_granularities") and own.one("response_format") != "verbose_json":
        told.append(unsupported("timestamp_granularities", "only verbose_json has times"))
    return told


def _asks(values: Iterable[str], name: str) -> bool:
    """Whether a field has a wish; SDKs write a temperature of 0 in several ways."""
    if name == "temperature":
        return any(value.strip("0. ") for value in values)
    return any(value.lower() not in _NO_WISH for value in values)


def _chunking(strategy: str | None) -> tuple[list[tuple[str, str]], list[RequestWarning]]:
    """The pause that ends an utterance, which is what `server_vad` has to say of ours."""
    if strategy is None or strategy.strip() == _AUTO:
        return [], []
    asked = object_of(strategy, _STRATEGY_CHARS)
    if asked is None or asked.get("type") != "server_vad":
        raise BadRequest('chunking_strategy: must be auto, or an object with the type "server_vad"')
    silence_ms = asked.get("silence_duration_ms")
    told = [unsupported(f"chunking_strategy.{name}", "there is one way to hear speech")
            for name in ("prefix_padding_ms", "threshold") if name in asked]  # fmt: skip
    return [] if silence_ms is None else [("endpointing", f"{silence_ms}")], told
