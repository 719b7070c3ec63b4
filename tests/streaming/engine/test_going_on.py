"""Streams that go on over endpoints: they hear what they would without any, and once."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from break_once import break_once
from company import listeners_in_company
from continuous_recognizer import ContinuousRecognizer
from knock_recognizer import loaded_knocks, sound

from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Final
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

QUICK = StreamConfig(
    endpoint=EndpointConfig(silence_ms=400, no_speech_ms=1000, max_utterance_ms=2000),
    vad_events=True,
)
ENDLESS = StreamConfig(endpoint=EndpointConfig(silence_ms=None, no_speech_ms=10**6))
SOUNDS = [
    sound(0.3, 0.2, 0.9, 0.2, 0.21, 0.6),
    sound(0.205, 0.44, 0.41, 0.435, 0.075, 1.3, 0.5),
    sound(0.1, 2.7, 0.05, 0.451),
    sound(*[0.155] * 30),  # without a pause, longer than an utterance may be
]
FRAMES = sum(len(samples) // 160 for samples in SOUNDS)

Make = Callable[[], Engine]
Heard = list[list[Final]]


@pytest.fixture
def make(request: pytest.FixtureRequest) -> Make:
    """Makes and starts engines; stops them after the test."""

    def make() -> Engine:
        config = EngineConfig(max_streams=len(SOUNDS), max_batch=3, max_wait_ms=200, threads=1)
        engine = Engine(ContinuousRecognizer(loaded_knocks(), config), config)
        engine.start()
        request.addfinalizer(lambda: engine.stop(60))
        return engine

    return make


def together(engine: Engine, sounds: SimpleNamespace, config: StreamConfig = QUICK) -> Heard:
    """The finals of all sounds at once."""
    return [each.finals for each in listeners_in_company(engine, sounds, SOUNDS, config)]


def knocks(finals: list[Final]) -> list[tuple[float, float]]:
    """When knocks were heard."""
    return [(word.start_s, word.end_s) for final in finals for word in final.alternatives[0].words]


def test_what_is_heard_in_all_is_what_is_heard_without_endpoints(
    make: Make, sounds: SimpleNamespace
) -> None:
    heard, whole = (together(make(), sounds, config) for config in (QUICK, ENDLESS))
    causes = {final.cause for finals in heard for final in finals}
    assert causes == {"endpoint", "max_utterance", "end"}
    assert [len(finals) for finals in whole] == [1] * len(SOUNDS)
    assert [knocks(finals) for finals in heard] == [knocks(finals) for finals in whole]
    assert [len(knocks(finals)) for finals in heard] == [5, 6, 3, 29]


def test_each_segment_begins_where_the_one_before_it_ends(
    make: Make, sounds: SimpleNamespace
) -> None:
    for finals in together(make(), sounds)[:2]:
        ends = [round(final.start_s + final.duration_s, 6) for final in finals]
        assert [final.start_s for final in finals] == [0.0, *ends[:-1]]


def test_alone_a_stream_tells_what_it_does_in_company(make: Make, sounds: SimpleNamespace) -> None:
    engine = make()
    alone = [sounds.transcribe(engine, samples, QUICK).finals for samples in SOUNDS]
    assert together(engine, sounds) == alone


def test_no_frame_is_encoded_or_walked_over_twice(
    make: Make, sounds: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [break_once(monkeypatch, ContinuousRecognizer, name, at=0) for name in ("hear", "walk")]
    together(make(), sounds)
    for lanes in calls:
        assert sum(lane.cut.frames for _, lane in lanes) == FRAMES


@pytest.mark.parametrize("after", [False, True], ids=["before the work", "after it"])
@pytest.mark.parametrize(
    ("name", "at"),
    [
        *[("encode", at) for at in (1, 9, 40)],
        *[("walk", at) for at in (1, 9, 77)],
        *[("take", at) for at in (1, 9, 77)],
        *[("decode", at) for at in (1, 9, 40)],
        *[("nbest", at) for at in range(1, 10)],
        *[("boundary", at) for at in (1, 2)],
        *[("rest", at) for at in range(1, 10)],
        *[("truncate", at) for at in (1, 2)],
        *[("restart", at) for at in (1, 2, 5)],
    ],
)
def test_a_failure_half_way_changes_nothing(
    make: Make,
    sounds: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    at: int,
    after: bool,
) -> None:
    expected = together(make(), sounds)
    calls = break_once(monkeypatch, ContinuousRecognizer, name, at, after=after)
    engine = make()
    assert together(engine, sounds) == expected
    assert len(calls) >= at
    assert engine.stats.failed_streams == 0


def test_a_flush_begins_anew(make: Make, sounds: SimpleNamespace) -> None:
    listener = sounds.Listener()
    stream = make().open(QUICK, listener)
    knock = sound(0.0, 0.02)  # loud up to its end
    for _ in range(2):
        stream.push(knock)
        stream.finalize()
    stream.finish()
    listener.wait_for_last()
    assert knocks(listener.finals) == [(0.0, 0.01), (0.02, 0.03)]
