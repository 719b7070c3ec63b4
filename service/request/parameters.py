"""Parameters of a request in whichever protocol, by the names of /v1/listen: Deepgram's and ours.

Unknown names are ignored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from earshot.service.audio.containers import Container
from earshot.service.audio.pcm import ENCODINGS, PcmFormat
from earshot.service.audio.resampler import MAX_RATE_HZ, MIN_RATE_HZ
from earshot.service.audio.stated_container import CONTAINERS, ONLY_RATE_HZ
from earshot.service.audio.wav_header import MAX_CHANNELS
from earshot.service.errors import BadRequest
from earshot.service.request.boosts import BoostRules
from earshot.service.request.endpoint_rules import EndpointRules
from earshot.service.request.languages import Languages
from earshot.service.request.model_names import KnownNames, ModelNames
from earshot.service.request.part_parameters import caps_of, read_part_parameters
from earshot.service.request.query_values import QueryValues
from earshot.service.request.request_warning import RequestWarning
from earshot.service.request.unserved import (
    no_marks_here,
    refuse_unserved,
    unserved_warnings,
)
from earshot.service.served_model import ServedModel
from earshot.service.settings import Settings
from earshot.service.writing import AS_HEARD, Writing
from earshot.streaming.entities import Entities, parse_entities
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.stream_config import (
    MIN_SILENCE_MS,
    WHOLE,
    WHOLE_NAME,
    Boost,
    EndpointConfig,
    StreamConfig,
    chunk_name,
)

FileFormat: TypeAlias = Literal["json", "text", "srt", "vtt"]
FILE_FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)


MAX_CHANNELS_APART = 8


@dataclass(frozen=True)
class ParameterRules:
    """What the server offers to requests.

    models: names a client may ask for. languages: those that its audio may be in.
    endpoint: where utterances end.
    part_caps: the most that a request may ask for of parts of the model, by parameter.
    max_channels: of one request that are heard apart, each by a stream of its own.
    writes_marks: whether anything here knows capitals and marks.
    modes: ways to decode; empty where only the engine knows them. chunks_ms: chunks to hear in,
        None where only the engine knows them.
    """

    models: ModelNames
    boosts: BoostRules
    endpoint: EndpointRules = field(default_factory=EndpointRules)
    part_caps: Mapping[str, int] = field(default_factory=dict)
    languages: Languages = field(default_factory=Languages)
    max_channels: int = MAX_CHANNELS_APART
    modes: tuple[str, ...] = ()
    writes_marks: bool = True
    chunks_ms: tuple[float, ...] | None = None

    @property
    def as_written(self) -> list[tuple[str, str]]:
        """Parameters of a text as people write it, as far as anything here knows how."""
        return [("punctuate", "true" if self.writes_marks else "false"), ("smart_format", "true")]

    @classmethod
    def of(
        cls,
        settings: Settings,
        model: ServedModel | None = None,
        known_names: KnownNames | None = None,
    ) -> "ParameterRules":
        """Take the rules from the settings; names, languages and modes are the model's."""
        name = "default" if model is None else model.name
        return cls(
            models=ModelNames(name, settings.model_aliases, settings.strict_models, known_names),
            boosts=BoostRules(
                settings.boost_weight,
                settings.max_phrases,
                most_earned=None if model is None else model.most_earned,
            ),
            endpoint=EndpointRules.of(
                settings, detects_turns=model is not None and model.detects_turns
            ),
            part_caps=caps_of(settings),
            languages=Languages(() if model is None else model.languages),
            max_channels=min(MAX_CHANNELS_APART, settings.streams_of(engines=1)),
            modes=() if model is None else model.modes,
            writes_marks=model is None or model.writes_marks,
            chunks_ms=None if model is None else model.chunks_ms,
        )


@dataclass(frozen=True)
class ListenParameters:
    """One request's wishes, checked; `pcm` None means that the audio's own header says it.

    container: what that header is of, where the request has named it.
    warnings: what it asks in vain. tell_warnings: each as a message of its own (sockets only).
    channels_apart: how many channels are to be heard each by itself; None mixes all into one. Of a
        file that says itself how many it has this is the most that it may have.
    """

    stream: StreamConfig
    pcm: PcmFormat | None
    format: FileFormat
    writing: Writing = AS_HEARD
    paragraphs: bool = False
    channels_apart: int | None = None
    keyterms: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    warnings: tuple[RequestWarning, ...] = ()
    tell_warnings: bool = False
    container: Container | None = None


def parse_parameters(
    query: Iterable[tuple[str, str]], rules: ParameterRules, *, is_file: bool
) -> ListenParameters:
    """Read the query's (name, value) pairs; a file's results are finals only.

    Raises:
        BadRequest: a value cannot be served; the message names the parameter.
        earshot.streaming.errors.InvalidStreamConfig: a number is out of the engine's range.
    """
    values = QueryValues(query)
    _check_offered(values, rules)
    writing, paragraphs = _writing(values), _paragraphs(values)
    language = values.one("language")
    of_language = rules.languages.check(language)
    stream = StreamConfig(
        mode=_mode(values, rules),
        interim_results=values.boolean("interim_results", False) and not is_file,
        alternatives=values.integer_from("alternatives", 1, 10) or 1,
        endpoint=_endpoint(values, rules, is_file=is_file),
        utterance_end_ms=_utterance_end_ms(values),
        vad_events=values.boolean("vad_events", False),
        boosts=_boosts(values, rules),
        punctuate=writing.punctuate,
        chunk_ms=_chunk_ms(values, rules),
        language=rules.languages.choose(language),
        **_of_parts(values, rules),
    )
    return ListenParameters(
        stream=stream,
        pcm=_pcm(values),
        format=values.choice("format", FILE_FORMATS, "json"),
        writing=writing,
        paragraphs=paragraphs and is_file,
        channels_apart=_channels_apart(values, rules, is_file=is_file),
        keyterms=tuple(values.all("keyterm")),
        keywords=tuple(values.all("keywords")),
        warnings=(
            *(() if of_language is None else (of_language,)),
            *unserved_warnings(values, rules.languages),
            *_without_marks(values, rules),
            *rules.endpoint.warnings(values),
            *values.warnings,
            *rules.boosts.warnings(
                values.all("keyterm"), values.all("keywords"), stream.graph.beam
            ),
        ),
        tell_warnings=values.boolean("warnings", False),
        container=_container(values),
    )


def _writing(values: QueryValues) -> Writing:
    """Figures and paragraphs bring capitals and marks along, unless somebody declines them."""
    smart_format = values.boolean("smart_format", False)
    implied = smart_format or _paragraphs(values)
    return Writing(values.boolean("punctuate", implied), smart_format)


def _paragraphs(values: QueryValues) -> bool:
    return values.boolean("paragraphs", values.boolean("smart_format", False))


def _without_marks(values: QueryValues, rules: ParameterRules) -> list[RequestWarning]:
    """A word to who asks for marks that nobody here writes, by whichever parameter brings them."""
    if rules.writes_marks or not _writing(values).punctuate:
        return []
    bringing = ("punctuate", "smart_format", "paragraphs")
    return [no_marks_here(next(name for name in bringing if values.boolean(name, False)))]


def _check_offered(values: QueryValues, rules: ParameterRules) -> None:
    rules.models.check(values.raw("model"))
    refuse_unserved(values)


def _channels_apart(values: QueryValues, rules: ParameterRules, *, is_file: bool) -> int | None:
    stated = values.optional_integer("channels", 1, MAX_CHANNELS)
    if not values.boolean("multichannel", False):
        return None
    raw = values.one("encoding") is not None and _container(values) is None
    if is_file and not raw:
        return rules.max_channels
    if stated is None and not raw:
        raise BadRequest("multichannel on a socket needs channels: how many there are")
    channels = stated or 1
    if channels > rules.max_channels:
        raise BadRequest(
            f"channels={channels}: multichannel hears at most {rules.max_channels} apart here"
        )
    return channels


def _endpoint(values: QueryValues, rules: ParameterRules, *, is_file: bool) -> EndpointConfig:
    asked = rules.endpoint.asked(values, is_file=is_file)
    defaults = EndpointConfig()
    return replace(
        asked,
        no_speech_ms=values.integer("no_speech_ms", 1000, 600_000, defaults.no_speech_ms),
        max_utterance_ms=values.integer(
            "max_utterance_ms", 2000, 600_000, defaults.max_utterance_ms
        ),
    )


def _utterance_end_ms(values: QueryValues) -> int | None:
    if (values.one("utterance_end_ms") or "").lower() == "false":
        return None
    return values.integer_from("utterance_end_ms", MIN_SILENCE_MS, 60_000)


def _mode(values: QueryValues, rules: ParameterRules) -> str | None:
    asked = values.one("mode")
    if asked is None or not rules.modes:
        return asked
    return values.choice("mode", rules.modes, asked)


def _chunk_ms(values: QueryValues, rules: ParameterRules) -> float | None:
    asked = values.one("chunk")
    if asked is None:
        return None
    is_whole = asked.lower() == WHOLE_NAME
    chunk_ms = WHOLE if is_whole else values.optional_number("chunk", 1, 600_000)
    if rules.chunks_ms is not None and chunk_ms not in rules.chunks_ms:
        known = ", ".join(map(chunk_name, rules.chunks_ms)) or "none"
        raise BadRequest(f"chunk={asked}: this model may be asked for {known}")
    return chunk_ms


def _boosts(values: QueryValues, rules: ParameterRules) -> tuple[Boost, ...]:
    return rules.boosts.parse(values.all("keyterm"), values.all("keywords"))


def _of_parts(values: QueryValues, rules: ParameterRules) -> dict[str, Any]:
    found, entities = read_part_parameters(values, rules.part_caps), values.one("entities")
    if entities is not None:
        found["graph"] = replace(found["graph"], entities=_entities(entities))
    return found


def _entities(text: str) -> Entities:
    try:
        return parse_entities(text)
    except InvalidStreamConfig as error:
        raise BadRequest(str(error)) from error


def _pcm(values: QueryValues) -> PcmFormat | None:
    rate_hz = values.optional_integer("sample_rate", MIN_RATE_HZ, MAX_RATE_HZ)
    if values.one("encoding") is None:
        return None
    if _container(values) is not None:
        _check_rate(values.choice("encoding", tuple(CONTAINERS), ""), rate_hz)
        return None
    encoding = values.choice("encoding", ENCODINGS, "linear16")
    if rate_hz is None:
        raise BadRequest(f"encoding={encoding} needs sample_rate")
    return PcmFormat(encoding, rate_hz, values.integer("channels", 1, MAX_CHANNELS, 1))


def _check_rate(encoding: str, rate_hz: int | None) -> None:
    only_hz = ONLY_RATE_HZ.get(encoding)
    if rate_hz is not None and only_hz not in (None, rate_hz):
        raise BadRequest(f"encoding={encoding} has {only_hz} samples a second, not {rate_hz}")


def _container(values: QueryValues) -> Container | None:
    known = (*ENCODINGS, *CONTAINERS)
    return CONTAINERS.get(values.choice("encoding", known, "linear16"))
