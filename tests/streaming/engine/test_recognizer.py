"""A model family of its own comes in through the registry, and nothing else is edited for it."""

import numpy as np
import pytest
from knock_recognizer import HumProofRecognizer, KnockRecognizer, loaded_knocks
from knock_recognizer import sound as knocks
from walking_recognizer import WalkingRecognizer

from earshot.models.errors import ModelError
from earshot.streaming.assembly.families import FAMILIES, Family, build_recognizer
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig, UnusableGraph
from earshot.streaming.events import Configured, Partial, SpeechStarted, UnboostablePhrase
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig
from earshot.streaming.u2.build import build_u2
from earshot.streaming.words.fitted_words import words_of

QUICK = StreamConfig(endpoint=EndpointConfig(silence_ms=400), vad_events=True)


@pytest.fixture(params=[KnockRecognizer, HumProofRecognizer, WalkingRecognizer])
def engine(request, monkeypatch):
    build = request.param
    family = Family(lambda loaded, config, parts: build(loaded, config))
    monkeypatch.setitem(FAMILIES, "knocks", family)
    config = EngineConfig(max_streams=3, max_batch=2)
    engine = Engine(build_recognizer(loaded_knocks(), config), config)
    engine.start()
    yield engine
    assert engine.stop(60)


def test_it_is_decoded_in_segments_that_pauses_end(engine, sounds):
    heard = sounds.transcribe(engine, knocks(0.3, 0.2, 0.9, 0.2, 0.2, 0.6), QUICK)
    texts = [final.alternatives[0].text for final in heard.finals]
    assert texts == ["knock knock", "knock knock knock", ""]
    assert [final.cause for final in heard.finals] == ["endpoint", "endpoint", "end"]
    starts = [word.end_s for final in heard.finals for word in final.alternatives[0].words]
    np.testing.assert_allclose(starts, [0.31, 0.51, 1.41, 1.61, 1.81], atol=0.011)
    assert [event.time_s for event in heard.of(SpeechStarted)] == pytest.approx([0.3, 1.4])


def test_streams_share_steps_and_not_their_words(engine, sounds):
    listeners = [sounds.Listener() for _ in range(3)]
    streams = [engine.open(QUICK, listener) for listener in listeners]
    for count, stream in enumerate(streams, start=1):
        sounds.push_all(stream, knocks(*[0.2] * (count + 1)))
    for stream in streams:
        stream.finish()
    for count, listener in enumerate(listeners, start=1):
        listener.wait_for_last()
        assert listener.text == " ".join(["knock"] * count)
        assert listener.of(Partial)


def test_its_boosts_and_its_configure_are_its_own(engine, sounds):
    listener = sounds.Listener()
    stream = engine.open(StreamConfig(boosts=(Boost("bang"),)), listener)
    stream.configure([Boost("boom")])
    stream.finish()
    listener.wait_for_last()
    assert [event.phrase for event in listener.of(UnboostablePhrase)] == ["bang"]
    [configured] = listener.of(Configured)
    assert [warning.phrase for warning in configured.warnings] == ["boom"]


@pytest.mark.parametrize(
    "wish",
    [{"mode": "ctc_greedy_search"}, {"graph": GraphOptions(lm=True)}, {"weights": {"ctc": 0.5}}],
)
def test_it_refuses_what_it_does_not_know(engine, sounds, wish):
    with pytest.raises(InvalidStreamConfig):
        engine.open(StreamConfig(**wish), sounds.Listener())
    engine.open(StreamConfig(mode="knocks", graph=GraphOptions(lm=False)), sounds.Listener())


@pytest.mark.parametrize(
    ("build", "ended"),
    [(KnockRecognizer, "end"), (HumProofRecognizer, "endpoint"), (WalkingRecognizer, "endpoint")],
)
def test_the_evidence_for_an_endpoint_is_the_decoders(monkeypatch, sounds, build, ended):
    """Over a hum that starts with a knock there is no silence but in the decoder's own view."""
    config = EngineConfig(max_streams=1)
    engine = Engine(build(loaded_knocks(), config), config)
    engine.start()
    humming = [*knocks(0.3), *knocks(1.0, hum=0.2)]
    heard = sounds.transcribe(engine, np.array(humming, np.float32), QUICK)
    assert heard.finals[0].cause == ended
    assert heard.finals[0].alternatives[0].text == "knock"
    assert engine.stop(60)


def test_another_familys_model_is_no_u2_model(digit_loop):
    with pytest.raises(ModelError, match="family 'knocks', not 'u2'"):
        build_u2(loaded_knocks(), EngineConfig(), ModelParts(loaded_knocks(), {}))
    with pytest.raises(UnusableGraph, match="no CTC head"):
        words_of(digit_loop(12), loaded_knocks())


def test_a_family_that_nobody_registered_is_named():
    with pytest.raises(InvalidEngineConfig, match=r"'knocks', which cannot be served yet.* u2"):
        build_recognizer(loaded_knocks(), EngineConfig())
