"""A decoder with state in slots, whose walk gives the evidence: it hears what one without does."""

from itertools import pairwise

import pytest
from break_once import break_once
from company import listeners_in_company
from knock_recognizer import HumProofRecognizer, loaded_knocks, sound
from walking_recognizer import Walk, WalkingRecognizer

from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.events import Closed, Partial, RoomAvailable, SpeechStarted
from earshot.streaming.stream.endpoint import FrameEvidence
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

QUICK = StreamConfig(
    endpoint=EndpointConfig(silence_ms=400, max_utterance_ms=2000), vad_events=True
)
SOUNDS = [
    sound(0.3, 0.2, 0.9, 0.2, 0.21, 0.6),
    sound(0.205, 0.44, 0.41, 0.435, 0.075, 1.3, 0.5),
    sound(*[0.155] * 30, hum=0.2),  # one knock, over a hum
    sound(*[0.155] * 30),  # without a pause, longer than an utterance may be
]


@pytest.fixture
def make(request):
    """Makes and starts engines; stops them after the test."""

    def make(build) -> Engine:
        config = EngineConfig(max_streams=len(SOUNDS), max_batch=3, max_wait_ms=200, threads=1)
        engine = Engine(build(loaded_knocks(), config), config)
        engine.start()
        request.addfinalizer(lambda: engine.stop(60))
        return engine

    return make


@pytest.fixture
def expected(make, sounds) -> list:
    """What the decoder without state hears in each."""
    engine = make(HumProofRecognizer)
    return [told(sounds.transcribe(engine, samples, QUICK)) for samples in SOUNDS]


def told(listener) -> list:
    """All that does not depend on when samples came."""
    return [event for event in listener.events if not isinstance(event, RoomAvailable)]


def together(engine, sounds) -> list:
    """What is told of all sounds at once."""
    return [told(each) for each in listeners_in_company(engine, sounds, SOUNDS, QUICK)]


def test_the_sounds_end_segments_in_all_ways_and_inside_of_chunks(expected):
    finals = [[event for event in events if hasattr(event, "cause")] for events in expected]
    causes = {final.cause for each in finals for final in each}
    assert causes == {"endpoint", "max_utterance", "end"}
    ends = [each.start_s for events in finals for _, each in pairwise(events)]
    assert any(round(end_s * 100) % 8 for end_s in ends)
    assert any(isinstance(event, Partial) for event in expected[0])


def test_alone_it_hears_the_same(make, sounds, expected):
    engine = make(WalkingRecognizer)
    assert [told(sounds.transcribe(engine, each, QUICK)) for each in SOUNDS] == expected


def test_in_company_too(make, sounds, expected):
    assert together(make(WalkingRecognizer), sounds) == expected


@pytest.mark.parametrize("after", [False, True], ids=["before the work", "after it"])
@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        *[(Walk, "step", at) for at in (1, 10, 77, 300)],
        *[(WalkingRecognizer, "rewind", at) for at in (1, 2)],
        *[(WalkingRecognizer, "ending", at) for at in (1, 9, 40)],
        *[(WalkingRecognizer, "decode", at) for at in (1, 9, 40)],
        *[(WalkingRecognizer, "restart", at) for at in (1, 2)],
    ],
)
def test_a_failure_half_way_changes_nothing(
    make, sounds, expected, monkeypatch, owner, name, at, after
):
    calls = break_once(monkeypatch, owner, name, at, after=after)
    engine = make(WalkingRecognizer)
    assert together(engine, sounds) == expected
    assert len(calls) > at
    assert engine.stats.failed_streams == 0


def test_a_stream_that_cannot_be_decoded_fails_alone_and_leaves_nothing(
    make, sounds, expected, monkeypatch
):
    whole = Walk.step

    def poisoned(self, loudness):
        if loudness > 0.9:
            raise RuntimeError("poison")
        return whole(self, loudness)

    monkeypatch.setattr(Walk, "step", poisoned)
    engine = make(WalkingRecognizer)
    heard = [sounds.Listener() for _ in range(2)]
    good, bad = (engine.open(QUICK, listener) for listener in heard)
    for start in range(0, len(SOUNDS[0]), 1000):
        good.push(SOUNDS[0][start : start + 1000])
        if start <= 8000:
            bad.push(SOUNDS[0][start : start + 1000] * (2 if start == 8000 else 1))
    good.finish()
    assert isinstance(heard[1].wait_for_last().error, DecodingFailed)
    assert isinstance(heard[0].wait_for_last(), Closed)
    assert told(heard[0]) == expected[0]
    assert together(engine, sounds) == expected


def test_a_slot_that_was_left_in_the_midst_of_a_knock_is_empty(make, sounds, expected):
    engine = make(WalkingRecognizer)
    for _ in SOUNDS:
        listener = sounds.Listener()
        stream = engine.open(QUICK, listener)
        stream.push(sound(0.3, 0.02))
        listener.wait_for(lambda event: isinstance(event, SpeechStarted))
        stream.cancel()
        listener.wait_for_last()
    assert together(engine, sounds) == expected


def test_evidence_of_too_few_frames_fails_the_stream(make, sounds, monkeypatch):
    short = FrameEvidence(silent=[True], spoken=[False])
    monkeypatch.setattr("walking_recognizer.knocks_as_evidence", lambda begun: short)
    listener = sounds.Listener()
    stream = make(WalkingRecognizer).open(QUICK, listener)
    stream.push(SOUNDS[0][:8000])
    assert isinstance(listener.wait_for_last().error, DecodingFailed)
