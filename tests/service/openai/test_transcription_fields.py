"""What the fields of a form ask for."""

from dataclasses import replace

import pytest

from earshot.service.errors import BadRequest
from earshot.service.openai.known_names import OPENAIS
from earshot.service.openai.transcription_fields import TranscriptionFields, read_fields
from earshot.service.request.boosts import BoostRules
from earshot.service.request.languages import Languages
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules
from earshot.service.writing import Writing
from earshot.streaming.stream_config import Boost

RULES = ParameterRules(
    ModelNames("own", known=OPENAIS),
    BoostRules(),
    languages=Languages(("en",)),
)


def fields(*named: tuple[str, str]) -> TranscriptionFields:
    return read_fields(named, RULES)


def test_nothing_asked_is_a_text_with_marks_and_figures() -> None:
    asked = fields(("model", "whisper-1"))
    assert (asked.format, asked.streams) == ("json", False)
    assert asked.granularities == {"segment"}
    assert asked.parameters.writing == Writing(punctuate=True, smart_format=True)
    assert asked.parameters.warnings == ()
    assert asked.parameters.stream.punctuate


def test_a_form_may_decline_marks_and_figures() -> None:
    asked = fields(("punctuate", "false"), ("smart_format", "false"))
    assert asked.parameters.writing == Writing()


def test_keywords_are_boosted_as_they_are_written() -> None:
    asked = fields(("keywords[]", "iced tea"), ("keywords[]", "latte:2"), ("keyterm", "mocha"))
    assert asked.parameters.stream.boosts == (
        Boost("iced tea", 8.0),
        Boost("latte", 2.0),
        Boost("mocha", 8.0),
    )


def test_our_own_parameters_may_stand_beside() -> None:
    asked = fields(("endpointing", "500"), ("no_speech_ms", "5000"))
    assert asked.parameters.stream.endpoint.silence_ms == 500
    assert asked.parameters.stream.endpoint.no_speech_ms == 5000


@pytest.mark.parametrize("name", [*OPENAIS.names, "own", "WHISPER-1", ""])
def test_names_that_clients_know_are_served(name: str) -> None:
    fields(("model", name))


@pytest.mark.parametrize(
    ("named", "told"),
    [
        (("model", "nova-3"), "model=nova-3: not served here; .* any name of OpenAI's"),
        (("model", "gpt-4o-transcribe-diarize"), "not served here"),
        (("language", "fr"), "language=fr: not served here"),
        (("response_format", "diarized_json"), "response_format=diarized_json: must be one of"),
        (("known_speaker_names[]", "anna"), "known_speaker_names: speakers are not told apart"),
        (("timestamp_granularities[]", "letter"), "timestamp_granularities=letter: must be one"),
        (("stream", "perhaps"), "stream=perhaps: must be true or false"),
        (("multichannel", "true"), "multichannel: one text is told here"),
        (("chunking_strategy", "semantic"), "chunking_strategy: must be auto, or an object"),
        (("chunking_strategy", "[" * 60_000), "chunking_strategy: must be auto, or an object"),
        (("chunking_strategy", '{"type": "\\ud800"}'), "must be auto, or an object"),
        (("chunking_strategy", "[]"), "chunking_strategy: must be auto, or an object"),
        (("chunking_strategy", '{"type": "no"}'), "chunking_strategy: must be auto, or an object"),
        (
            ("chunking_strategy", '{"type": "server_vad", "silence_duration_ms": "x"}'),
            "endpointing=x: must be a whole number",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_by_name(named: tuple[str, str], told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        fields(named)


def test_a_stream_of_events_is_json() -> None:
    with pytest.raises(BadRequest, match="response_format=srt: with stream=true it must be json"):
        fields(("response_format", "srt"), ("stream", "true"))


def test_a_model_that_writes_no_marks_is_not_asked_for_them() -> None:
    asked = read_fields([], replace(RULES, writes_marks=False))
    assert asked.parameters.warnings == ()
    assert asked.parameters.writing == Writing(smart_format=True)


def test_a_field_of_one_value_may_come_once() -> None:
    with pytest.raises(BadRequest, match="response_format: given 2 times"):
        fields(("response_format", "json"), ("response_format", "text"))


@pytest.mark.parametrize(
    ("named", "told"),
    [
        (("temperature", "0.4"), ["temperature"]),
        (("temperature", "0"), []),
        (("temperature", "0.0"), []),
        (("alternatives", "3"), ["alternatives"]),
        (("timestamp_granularities[]", "word"), ["timestamp_granularities"]),
        (("multichannel", "false"), []),
        (("prompt", "The talk is about tea."), ["prompt"]),
        (("prompt", ""), []),
        (("include[]", "logprobs"), ["include"]),
        (("chunking_strategy", "auto"), []),
        (
            ("chunking_strategy", '{"type": "server_vad", "threshold": 0.5}'),
            ["chunking_strategy.threshold"],
        ),
        (("diarize", "true"), ["diarize"]),
    ],
)
def test_what_is_asked_in_vain_is_warned_of(named: tuple[str, str], told: list[str]) -> None:
    assert [each.parameter for each in fields(named).parameters.warnings] == told


def test_a_pause_of_their_voice_detector_is_ours() -> None:
    strategy = '{"type": "server_vad", "silence_duration_ms": 700}'
    assert fields(("chunking_strategy", strategy)).parameters.stream.endpoint.silence_ms == 700


def test_words_alone_may_be_asked_for() -> None:
    asked = fields(("timestamp_granularities[]", "word"))
    assert asked.granularities == {"word"}
