from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from earshot.service.audio.pcm import PcmFormat
from earshot.service.deepgram.known_names import DEEPGRAMS
from earshot.service.errors import BadRequest
from earshot.service.request.boost_warnings import AskedPhrases
from earshot.service.request.boosts import BoostRules
from earshot.service.request.languages import Languages
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules, parse_parameters
from earshot.service.served_model import ServedModel
from earshot.service.settings import Settings
from earshot.service.writing import Writing
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.lm_mix import LmMix
from earshot.streaming.stream_config import WHOLE, Boost

RULES = ParameterRules(
    ModelNames("bundled", known=DEEPGRAMS),
    BoostRules(),
    part_caps={"max_active": 1000},
    languages=Languages(("en",)),
    modes=("attention_rescoring", "attention"),
    chunks_ms=(320.0, 640.0, WHOLE),
)


def parse(query, is_file=False):
    return parse_parameters(parse_qsl(query, keep_blank_values=True), RULES, is_file=is_file)


def test_nothing_asked_gives_the_defaults():
    parameters = parse("")
    assert parameters.pcm is None
    assert parameters.format == "json"
    assert parameters.stream.mode is None
    assert parameters.stream.interim_results is False
    assert parameters.stream.endpoint.silence_ms == 1000


def test_everything_asked_arrives():
    stream = parse(
        "mode=attention&interim_results=true&alternatives=3&endpointing=700&utterance_end_ms=1500"
        "&vad_events=true&max_utterance_ms=9000&no_speech_ms=4000&keyterm=iced%20tea&keywords=tea:2"
    ).stream
    assert (stream.mode, stream.interim_results, stream.alternatives) == ("attention", True, 3)
    assert (stream.utterance_end_ms, stream.vad_events) == (1500, True)
    endpoint = stream.endpoint
    assert (endpoint.silence_ms, endpoint.max_utterance_ms) == (700, 9000)
    assert endpoint.no_speech_ms == 4000
    assert stream.boosts == (Boost("iced tea", 8.0), Boost("tea", 2.0))


@pytest.mark.parametrize(
    ("query", "language"),
    [("", None), ("language=", None), ("language=EN_gb", "en"), ("language=multi", None)],
)
def test_a_stream_is_asked_for_the_language_by_the_tag_of_the_model(query, language):
    assert parse(query).stream.language == language


@pytest.mark.parametrize(
    ("query", "chunk_ms"),
    [
        ("", None),
        ("chunk=", None),
        ("chunk=320", 320.0),
        ("chunk=640.0", 640.0),
        ("chunk=Whole", WHOLE),
    ],
)
def test_a_chunk_is_milliseconds_or_the_whole_segment(query, chunk_ms):
    assert parse(query).stream.chunk_ms == chunk_ms


@pytest.mark.parametrize("value", ["321", "wholes", "nan", "inf", "-320", "0", "1e3"])
def test_another_chunk_is_refused_with_those_that_there_are(value):
    with pytest.raises(BadRequest, match=r"^chunk="):
        parse(f"chunk={value}")
    with pytest.raises(BadRequest, match="may be asked for 320, 640, whole"):
        parse("chunk=321")


@pytest.mark.parametrize(
    ("value", "silence_ms"), [("false", None), ("true", 1000), ("25", 300), ("1500", 1500)]
)
def test_endpointing_is_false_or_milliseconds(value, silence_ms):
    assert parse(f"endpointing={value}").stream.endpoint.silence_ms == silence_ms


def test_a_query_of_livekit_is_understood():
    stream = parse(
        "model=nova-3&punctuate=true&smart_format=false&no_delay=true&interim_results=true"
        "&encoding=linear16&vad_events=true&sample_rate=16000&channels=1&endpointing=25"
        "&filler_words=true&profanity_filter=false&numerals=false&language=en-US&mip_opt_out=false"
    ).stream
    assert stream.vad_events
    assert stream.interim_results


def test_smart_format_is_off_until_asked_for():
    assert parse("").writing == Writing()
    assert parse("smart_format=true", is_file=True).writing.smart_format


@pytest.mark.parametrize(
    ("query", "marks"),
    [
        ("", False),
        ("punctuate=true", True),
        ("smart_format=true", True),
        ("paragraphs=true", True),
        ("smart_format=true&paragraphs=false", True),
        ("smart_format=true&punctuate=false", False),
        ("paragraphs=true&punctuate=false", False),
    ],
)
def test_figures_and_paragraphs_bring_capitals_and_marks_unless_they_are_declined(query, marks):
    for is_file in (False, True):
        asked = parse(query, is_file=is_file)
        assert (asked.writing.punctuate, asked.stream.punctuate) == (marks, marks)


def test_who_asks_for_marks_of_a_model_without_is_told_so():
    rules = replace(RULES, writes_marks=False)
    for name in ("punctuate", "smart_format", "paragraphs"):
        [warning] = parse_parameters([(name, "true")], rules, is_file=True).warnings
        assert warning.parameter == name
        assert "no tagger" in warning.message
    for query in ("punctuate=false", "smart_format=true&punctuate=false", ""):
        pairs = [tuple(pair.split("=")) for pair in query.split("&") if pair]
        assert not parse_parameters(pairs, rules, is_file=True).warnings


@pytest.mark.parametrize(
    ("query", "paragraphs"),
    [
        ("", False),
        ("paragraphs=true", True),
        ("smart_format=true", True),
        ("smart_format=true&paragraphs=false", False),
    ],
)
def test_smart_format_brings_paragraphs_of_files(query, paragraphs):
    assert parse(query, is_file=True).paragraphs is paragraphs
    assert parse(query, is_file=False).paragraphs is False


@pytest.mark.parametrize(
    ("query", "is_file", "apart"),
    [
        ("", False, None),
        ("channels=2", False, None),
        ("encoding=linear16&sample_rate=8000&channels=2", False, None),
        ("encoding=linear16&sample_rate=8000&channels=2&multichannel=true", False, 2),
        ("encoding=linear16&sample_rate=8000&multichannel=true", False, 1),
        ("channels=3&multichannel=true", False, 3),
        ("multichannel=true", True, 8),
        ("encoding=linear16&sample_rate=8000&channels=2&multichannel=true", True, 2),
    ],
)
def test_channels_are_mixed_unless_they_are_to_be_heard_apart(query, is_file, apart):
    assert parse(query, is_file=is_file).channels_apart == apart


def test_raw_audio_has_as_many_channels_as_stated():
    pcm = parse("encoding=linear16&sample_rate=8000&channels=2").pcm
    assert pcm == PcmFormat("linear16", 8000, channels=2)


def test_no_more_channels_are_heard_apart_than_there_are_streams():
    rules = ParameterRules.of(Settings(max_streams=2))
    query = [("multichannel", "true"), ("channels", "3")]
    with pytest.raises(BadRequest, match="at most 2 apart"):
        parse_parameters(query, rules, is_file=False)


def test_the_most_that_a_word_can_earn_is_told_where_it_is_known():
    model = ServedModel("m", "1", "fake", "0", most_earned=6.0)
    assert ParameterRules.of(Settings(), model).boosts.limits["weight"] == 6.0
    assert "weight" not in ParameterRules.of(Settings()).boosts.limits


@pytest.mark.parametrize(
    ("keyterms", "keywords", "asked"),
    [
        (["tea:2", "hot toe", " toe : 3"], [], AskedPhrases(weighted=frozenset({"tea", "toe"}))),
        (["10:30"], ["hot"], AskedPhrases(keywords=frozenset({"hot"}))),
        ([], ["hot:9 "], AskedPhrases(frozenset({"hot"}), frozenset({"hot"}))),
    ],
)
def test_phrases_with_a_weight_of_the_clients_are_told_from_others(keyterms, keywords, asked):
    assert AskedPhrases.of(keyterms, keywords) == asked


def test_unknown_names_are_ignored():
    assert parse("foo=bar&no_delay=true&mip_opt_out=true") == parse("")


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ("interim_results=1", "interim_results=true"),
        ("interim_results=0", "interim_results=false"),
        ("interim_results=", ""),
        ("vad_events=True", "vad_events=true"),
        ("smart_format=1", "smart_format=true"),
        ("smart_format=", ""),
        ("utterance_end_ms=1000.0", "utterance_end_ms=1000"),
        ("utterance_end_ms=", ""),
        ("utterance_end_ms=false", ""),
        ("alternatives=", ""),
        ("endpointing=", ""),
        ("endpointing=400.0", "endpointing=400"),
        ("keyterm=&keywords=", ""),
        ("keyterm=&keyterm=tea&keyterm=%20", "keyterm=tea"),
        ("encoding=LINEAR16&sample_rate=16000.0", "encoding=linear16&sample_rate=16000"),
        ("encoding=", ""),
        ("mode=Attention&format=SRT", "mode=attention&format=srt"),
        ("model=", ""),
        ("language=", ""),
    ],
)
def test_values_of_other_clients_are_read(query, plain):
    assert parse(query) == parse(plain)


@pytest.mark.parametrize(
    ("query", "plain", "message"),
    [
        ("alternatives=0", "", "alternatives=0: counts as 1, the least that is served"),
        ("utterance_end_ms=100", "utterance_end_ms=300", "utterance_end_ms=100: counts as 300"),
        ("endpointing=25", "endpointing=300", "endpointing=25: counts as 300"),
        ("keywords=x:100", "keywords=x:20", "x: the weight 100 counts as 20"),
        ("keywords=x:-100", "keywords=x:-20", "x: the weight -100 counts as -20"),
    ],
)
def test_a_value_that_is_brought_into_range_is_named(query, plain, message):
    asked = parse(query)
    assert asked.stream == parse(plain).stream
    (warning,) = asked.warnings
    assert (warning.parameter, warning.type) == (query.partition("=")[0], "changed_value")
    assert warning.message.startswith(message)
    assert parse(plain).warnings == ()


@pytest.mark.parametrize("language", ["en", "en-US", "EN-gb", "en_AU", ""])
def test_a_language_that_is_served_needs_no_word(language):
    assert parse(f"language={language}").warnings == ()


def test_speech_of_several_languages_is_served_with_a_warning():
    (warning,) = parse("language=multi").warnings
    assert (warning.parameter, warning.type) == ("language", "unsupported_language")


@pytest.mark.parametrize(
    "query",
    [
        "numerals=1", "diarize=true", "diarize_model=latest", "replace=a:b",
        "search=tea&search=ice", "summarize=v2", "topics=true", "intents=true", "sentiment=true",
        "detect_language=true", "detect_language=es", "profanity_filter=true", "version=2024-01-09",
        "tier=enhanced", "utt_split=0.8", "detect_entities=true", "dictation=true", "tag=a&tag=b",
        "filler_words=true", "measurements=true", "extra=a:b", "custom_topic=x", "language_hint=fr",
        "custom_intent=x", "detect_topics=true", "diarize_version=2021",
    ],
)  # fmt: skip
def test_what_is_asked_and_not_done_is_said_once(query):
    for is_file in (False, True):
        (warning,) = parse(query, is_file).warnings
        assert warning.parameter == query.partition("=")[0]
        assert warning.type == "unsupported_parameter"
        assert warning.message.startswith(f"{warning.parameter}: ")


@pytest.mark.parametrize(
    "query",
    [
        "punctuate=false&numerals=False&diarize=0&search=&detect_language=false&redact=false",
        "version=latest&language_hint=en&language_hint=en-US&callback=&tag=",
    ],
)
def test_what_asks_for_nothing_needs_no_word(query):
    assert parse(query) == parse("")


def test_numerals_are_done_where_smart_format_writes_them():
    assert parse("numerals=true&smart_format=true").warnings == ()
    (warning,) = parse("numerals=true&smart_format=false").warnings
    assert "numbers stay words" in warning.message


@pytest.mark.parametrize(
    "query", ["mode=attention&mode=attention", "alternatives=2&alternatives=4", "model=a&model="]
)
def test_a_name_of_one_value_that_is_given_twice_is_refused(query):
    name = query.partition("=")[0]
    with pytest.raises(BadRequest, match=f"{name}: given 2 times, where it takes one value"):
        parse(query)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("encoding=linear16", "needs sample_rate"),
        ("encoding=linear16&sample_rate=3999", "sample_rate=3999"),
        ("encoding=linear16&sample_rate=192001", "sample_rate=192001"),
        ("encoding=linear16&sample_rate=16k", "sample_rate=16k"),
        ("sample_rate=abc", "sample_rate=abc"),
        ("sample_rate=5", "sample_rate=5: must be a whole number from 4000 to 192000"),
        ("redact=pci", "redact: nothing is redacted here"),
        ("redact=true&redact=false", "redact: "),
        ("callback=http://x", "callback: no address is called"),
        ("language=fr", "language=fr: not served here; the model knows en"),
        ("language=english", "language=english"),
        ("model=nova-9", "model=nova-9: not served here; .* answers to bundled, "),
        ("model=nova-9", "any name .* that .v1.models lists"),
        ("channels=0", "channels=0: must be a whole number from 1 to 32"),
        ("channels=33", "channels=33"),
        ("multichannel=true", "multichannel on a socket needs channels"),
        ("multichannel=true&channels=9", "channels=9: multichannel hears at most 8"),
        ("interim_results=maybe", "interim_results=maybe"),
        ("alternatives=11", "alternatives=11"),
        ("alternatives=٣", "alternatives"),
        ("alternatives=1_0", "alternatives=1_0"),
        ("endpointing=-5", "endpointing=-5"),
        ("endpointing=60001", "endpointing=60001"),
        ("endpointing=25.5", "endpointing=25.5"),
        ("utterance_end_ms=soon", "utterance_end_ms=soon"),
        ("mode=guess", "mode=guess"),
        ("format=doc", "format=doc"),
        ("keywords=tea:much", "much"),
        ("max_utterance_ms=10", "max_utterance_ms=10"),
        ("lm=false", "lm=false: must be on, off, or a model's name"),
        ("lm=Law", "lm=Law: must be on, off, or a model's name"),
        ("lm=../law", "lm=../law: must be on, off"),
        ("lm=a,b", "lm=a: of several models each needs a weight"),
        ("lm=a:0.5,b:0.4", "lm=a:0.5,b:0.4: the weights must sum to 1"),
        ("lm=" + ",".join(f"a{n}:0.001" for n in range(1000)), "lm names more than 4 models"),
        ("lm_weight=10.5", "lm_weight=10.5: must be a number from 0 to 10"),
        ("lm_weight=nan", "lm_weight=nan"),
        ("lm_weight=1e0", "lm_weight=1e0"),
        ("lm_weight=٣", "lm_weight"),
        ("neural_lm_weight=-0.1", "neural_lm_weight=-0.1: must be a number from 0 to 10"),
        ("beam=0.5", "beam=0.5: must be a number from 1 to 100"),
        ("beam=-12", "beam=-12"),
        ("max_active=0", "max_active=0: must be a whole number from 1 to 1000"),
        ("max_active=1001", "max_active=1001"),
    ],
)
def test_a_wrong_value_is_named(query, named):
    with pytest.raises(BadRequest, match=named):
        parse(query)


def test_what_is_asked_of_the_graph_arrives():
    assert parse("").stream.graph == GraphOptions()
    asked = parse("lm=on&lm_weight=0.5&beam=12&max_active=800").stream.graph
    assert asked == GraphOptions(lm=True, lm_weight=0.5, beam=12.0, max_active=800)
    assert parse("lm=off").stream.graph == GraphOptions(lm=False)
    assert parse("lm=law").stream.graph == GraphOptions(lm=LmMix((("law", 1.0),)))
    mix = LmMix((("law", 0.7), ("web", 0.3)))
    assert parse("lm=law:0.7,web:0.3").stream.graph == GraphOptions(lm=mix)


def test_what_the_neural_language_model_is_to_count_arrives():
    assert parse("").stream.weights == {}
    assert parse("neural_lm_weight=0.2").stream.weights == {"neural_lm": 0.2}


def test_files_have_no_partials():
    assert parse("interim_results=true", is_file=True).stream.interim_results is False
    with pytest.raises(BadRequest, match="interim_results=maybe"):
        parse("interim_results=maybe", is_file=True)
