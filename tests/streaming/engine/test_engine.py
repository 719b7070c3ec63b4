"""The engine's life and its callers': opening, flushing, cancelling, stopping, back-pressure."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.errors import NotStreamable
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.boosting.boost_compiler import BoostCompiler
from earshot.streaming.boosting.boosting import compile_boosts
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.engine_loop import EngineLoop
from earshot.streaming.engine.failure_streak import MOST_IN_A_ROW
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import (
    BacklogFull,
    EngineFull,
    EngineStopped,
    InvalidAudio,
    ListsNotCompiled,
    StreamClosed,
)
from earshot.streaming.events import (
    Closed,
    Configured,
    Described,
    Failed,
    Final,
    NotConfigured,
    Partial,
    RoomAvailable,
    UnboostablePhrase,
)
from earshot.streaming.requests import Describe
from earshot.streaming.stream.backlog import MAX_REQUESTS
from earshot.streaming.stream_config import Boost, StreamConfig, StreamPriority

GREEDY = StreamConfig(mode="ctc_greedy_search")


def test_finalize_answers_with_all_that_was_pushed_even_if_nothing(tone_engine, sounds):
    listener = sounds.Listener()
    stream = tone_engine.open(GREEDY, listener)
    sounds.push_all(stream, sounds.speech("一二"))
    stream.finalize()
    stream.finalize()
    sounds.push_all(stream, sounds.speech("三"))
    stream.finish()
    listener.wait_for_last()
    told = [(f.alternatives[0].text, f.cause, f.from_finalize) for f in listener.finals]
    assert told == [
        ("一二", "finalize", True),
        ("", "finalize", True),
        ("三", "end", False),
    ]
    assert listener.finals[2].start_s == pytest.approx(len(sounds.speech("一二")) / sounds.rate_hz)


def test_a_stream_without_audio_ends_with_an_empty_final(tone_engine, sounds):
    heard = sounds.transcribe(tone_engine, np.zeros(0, np.float32))
    assert heard.events == [
        Final(0.0, 0.0, heard.finals[0].alternatives, True, False, "end"),
        Closed(0.0),
    ]
    assert heard.finals[0].alternatives[0].text == ""


@pytest.mark.parametrize("length", [1, 399, 400, 1000])
def test_a_stream_of_a_few_samples_ends_well(tone_engine, sounds, length):
    heard = sounds.transcribe(tone_engine, sounds.noise(1.0)[:length])
    assert heard.text == ""
    assert heard.events[-1] == Closed(length / sounds.rate_hz)


def test_nothing_goes_into_a_stream_that_is_over(tone_engine, sounds):
    listener = sounds.Listener()
    stream = tone_engine.open(GREEDY, listener)
    stream.finish()
    for act in (
        lambda: stream.push(sounds.noise(0.1)),
        stream.finalize,
        stream.finish,
        lambda: stream.configure([]),
    ):
        with pytest.raises(StreamClosed):
            act()
    listener.wait_for_last()
    stream.cancel()


def test_cancel_silences_a_stream_at_once(tone_engine, sounds):
    blocked, go_on = threading.Event(), threading.Event()
    listener = sounds.Listener()

    def slow_sink(event):
        listener(event)
        if isinstance(event, Partial):
            blocked.set()
            assert go_on.wait(60)

    stream = tone_engine.open(GREEDY, slow_sink)
    sounds.push_all(stream, sounds.speech("一二三四五六七"))
    assert blocked.wait(60)
    stream.cancel()
    stream.cancel()
    go_on.set()
    listener.wait_for_last()
    assert [type(event) for event in listener.events] == [Partial, Closed]
    with pytest.raises(StreamClosed):
        stream.push(sounds.noise(0.1))


def test_slots_are_asked_for_before_they_are_taken(make_engine, tone_model, sounds):
    engine = make_engine(tone_model, max_streams=2, chunk_size=8)
    listener = sounds.Listener()
    first = engine.open(GREEDY, listener)
    engine.open(GREEDY, sounds.Listener())
    assert not engine.can_open()
    with pytest.raises(EngineFull):
        engine.open(GREEDY, sounds.Listener())
    first.cancel()
    listener.wait_for_last()
    assert engine.can_open()
    engine.open(GREEDY, sounds.Listener())


def test_a_full_engine_refuses_before_it_works_on_boosts(make_engine, tone_model, monkeypatch):
    engine = make_engine(tone_model, max_streams=1)
    stream = engine.open(GREEDY, lambda event: None)
    monkeypatch.setattr(BoostCompiler, "submit", None)
    with pytest.raises(EngineFull):
        engine.open(GREEDY, lambda event: None)
    stream.cancel()


def test_nobody_waits_while_boosts_are_compiled(tone_engine, sounds, monkeypatch):
    asked, go_on = threading.Event(), threading.Event()

    def slow(boosts, tokenizer):
        asked.set()
        assert go_on.wait(60)
        return compile_boosts(boosts, tokenizer)

    monkeypatch.setattr("earshot.streaming.search.token_searches.compile_boosts", slow)
    config = StreamConfig(mode="ctc_prefix_beam_search", boosts=(Boost("一"), Boost("x")))
    opening, configuring = sounds.Listener(), sounds.Listener()
    streams = [
        tone_engine.open(config, opening),
        tone_engine.open(replace(config, boosts=()), configuring),
    ]
    streams[1].configure([Boost("一")])
    assert asked.wait(60)
    for stream in streams:
        sounds.push_all(stream, sounds.speech("一二三"))
        stream.finish()
    assert sounds.transcribe(tone_engine, sounds.speech("四五"), GREEDY).text == "四五"
    assert opening.events == configuring.events == []
    go_on.set()
    for listener, first in ((opening, UnboostablePhrase), (configuring, Configured)):
        listener.wait_for_last()
        assert isinstance(listener.events[0], first)
        assert listener.text == "一二三"


def test_boosts_that_cannot_be_compiled_end_their_own_stream(tone_engine, sounds, monkeypatch):
    monkeypatch.setattr("earshot.streaming.search.token_searches.compile_boosts", None)
    for _ in range(2 * MOST_IN_A_ROW):  # however many there are: the engine is not to blame
        listener = sounds.Listener()
        tone_engine.open(StreamConfig(boosts=(Boost("一"),)), listener)
        assert isinstance(listener.wait_for_last().error, ListsNotCompiled)
    assert sounds.transcribe(tone_engine, sounds.speech("四五"), GREEDY).text == "四五"


def test_a_stream_whose_new_boosts_cannot_be_compiled_goes_on(tone_engine, sounds, monkeypatch):
    monkeypatch.setattr("earshot.streaming.search.token_searches.compile_boosts", None)
    listener = sounds.Listener()
    stream = tone_engine.open(StreamConfig(mode="ctc_prefix_beam_search"), listener)
    for _ in range(2 * MOST_IN_A_ROW):
        stream.configure([Boost("一")])
    sounds.push_all(stream, sounds.speech("四五"))
    stream.finish()
    listener.wait_for_last()
    refused = listener.of(NotConfigured)
    assert [each.reason for each in refused] == ["the lists of the request cannot be compiled"] * (
        2 * MOST_IN_A_ROW
    )
    assert listener.text == "四五"


def test_stop_fails_open_streams_and_refuses_new_ones(make_engine, tone_model, sounds):
    engine = make_engine(tone_model, chunk_size=8)
    listener = sounds.Listener()
    stream = engine.open(GREEDY, listener)
    sounds.push_all(stream, sounds.speech("一"))
    assert engine.stop(60)
    last = listener.wait_for_last()
    assert isinstance(last, Failed)
    assert isinstance(last.error, EngineStopped)
    assert not engine.can_open()
    assert not engine.stats.running
    with pytest.raises(EngineStopped):
        engine.open(GREEDY, sounds.Listener())
    with pytest.raises(StreamClosed):
        stream.push(sounds.noise(0.1))


def test_an_engine_that_was_not_started_opens_nothing(tone_model, sounds):
    config = EngineConfig(max_streams=1)
    engine = Engine(build_recognizer(tone_model, config), config)
    with pytest.raises(EngineStopped):
        engine.open(GREEDY, sounds.Listener())
    assert engine.stop(1)


def test_a_model_for_whole_utterances_is_refused(golden_dir):
    offline = load_model(golden_dir / "variants" / "offline_conformer_bn")
    with pytest.raises(NotStreamable, match="offline_conformer_bn"):
        build_recognizer(offline, EngineConfig())


def test_if_the_engine_breaks_every_stream_is_told(
    make_engine, tone_model, sounds, monkeypatch, caplog
):
    def broken(loop):
        raise RuntimeError("a bug of the engine's own")

    monkeypatch.setattr(EngineLoop, "_schedule", broken)
    engine = make_engine(tone_model)
    listener = sounds.Listener()
    engine.open(GREEDY, listener)
    assert isinstance(listener.wait_for_last().error, EngineStopped)
    engine._thread.join(60)
    assert "a bug of the engine's own" in caplog.text
    assert not engine.can_open()
    with pytest.raises(EngineStopped):
        engine.open(GREEDY, listener)


def test_an_observer_that_raises_harms_no_stream(make_engine, tone_model, sounds, caplog):
    def broken(report):
        raise ValueError("the observer's bug")

    engine = make_engine(tone_model, broken, chunk_size=8)
    assert sounds.transcribe(engine, sounds.speech("一二三"), GREEDY).text == "一二三"
    assert "the observer's bug" in caplog.text


def test_a_file_is_fed_by_room_events(make_engine, tone_model, sounds):
    engine = make_engine(tone_model, chunk_size=8, max_backlog_s=1.0)
    text = "一二三四五六七八九" * 3
    samples = sounds.speech(text)
    listener = sounds.Listener()
    stream = engine.open(GREEDY, listener, StreamPriority.FILE)
    sounds.push_all(stream, samples, None, listener)
    stream.finish()
    listener.wait_for_last()
    assert listener.text == text
    assert all(0.5 <= event.room_s <= 1.0 for event in listener.of(RoomAvailable))
    assert listener.of(RoomAvailable)
    assert stream.backlog_s == 0


def test_who_asks_for_finals_faster_than_they_come_is_held_up(tone_engine, sounds):
    listener, busy, go_on = sounds.Listener(), threading.Event(), threading.Event()

    def sink(event):
        listener(event)
        busy.set()
        assert go_on.wait(30)

    stream = tone_engine.open(GREEDY, sink)
    stream.finalize()
    assert busy.wait(30)
    for _ in range(MAX_REQUESTS):
        stream.finalize()
    with pytest.raises(BacklogFull):
        stream.finalize()
    go_on.set()
    listener.wait_for(lambda event: isinstance(event, RoomAvailable))
    stream.finalize()
    stream.finish()
    listener.wait_for_last()
    assert len(listener.finals) == 1 + MAX_REQUESTS + 1 + 1


@pytest.mark.parametrize(
    "samples",
    [
        np.array([0.0, np.nan], np.float32),
        np.array([0.0, np.inf], np.float32),
        np.array([0.0, -np.inf], np.float32),
        np.array([0.0, 20000.0], np.float32),
        np.array([0.0, -1e30], np.float32),
        np.zeros(4, np.float64),
        np.zeros(4, np.int16),
        np.zeros((2, 4), np.float32),
        np.zeros(16 * 16000, np.float32),
    ],
    ids=["nan", "inf", "-inf", "int16 range", "huge", "double", "int16", "stereo", "too long"],
)
def test_what_is_not_audio_is_refused_and_the_stream_goes_on(tone_engine, sounds, samples):
    listener = sounds.Listener()
    stream = tone_engine.open(GREEDY, listener)
    with pytest.raises(InvalidAudio):
        stream.push(samples)
    sounds.push_all(stream, sounds.speech("一二"))
    stream.finish()
    listener.wait_for_last()
    assert listener.text == "一二"


def test_stats_and_step_reports_say_what_was_done(make_engine, tone_model, sounds):
    reports = []
    engine = make_engine(tone_model, observer=reports.append, chunk_size=8)
    sounds.transcribe(engine, sounds.speech("一二三_四"), GREEDY)
    engine.stop(60)
    stats = engine.stats
    assert stats.steps == len(reports) == stats.lanes
    assert stats.finals == 2
    assert stats.partials >= 3
    assert stats.failed_streams == stats.live_streams == stats.file_streams == 0
    assert stats.audio_s >= len(sounds.speech("一二三_四")) / sounds.rate_hz
    assert sum(report.endings for report in reports) == 2
    for report in reports:
        parts = (report.encoder_s, report.search_s, report.second_pass_s, report.emit_s)
        assert min(parts) > 0
        assert sum(parts) == pytest.approx(report.duration_s)


def test_a_buffer_that_the_caller_reuses_has_been_copied(tone_engine, sounds):
    listener = sounds.Listener()
    stream = tone_engine.open(GREEDY, listener)
    buffer = np.zeros(4000, np.float32)
    samples = sounds.speech("一二三")
    for start in range(0, len(samples), 4000):
        piece = samples[start : start + 4000]
        buffer[: len(piece)] = piece
        stream.push(buffer[: len(piece)])
        buffer[:] = 1.0
    stream.finish()
    listener.wait_for_last()
    assert listener.text == "一二三"


def test_a_stream_says_how_it_stands_but_not_what_was_said(tone_engine, sounds):
    listener = sounds.Listener()
    stream = tone_engine.open(StreamConfig(mode="ctc_prefix_beam_search"), listener)
    sounds.push_all(stream, sounds.speech("一二三"))
    stream.finalize()
    stream.ask(Describe())
    told = listener.wait_for(lambda event: isinstance(event, Described))
    assert told.search == "prefix"
    assert told.steps > 0
    assert told.worst_wait_s >= 0
    assert set(told.search_counts.values()) == {0}
    assert listener.finals, "in its turn, after the final that was asked for before it"
