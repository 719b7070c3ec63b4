"""Several engines in processes of their own look like one, and each fails alone."""

import logging
import os
import queue
import signal
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine import publisher
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import (
    BacklogFull,
    DecodingFailed,
    EngineFull,
    EngineStopped,
    InvalidAudio,
    InvalidStreamConfig,
    StreamClosed,
)
from earshot.streaming.events import (
    Closed,
    Configured,
    Described,
    Failed,
    Final,
    NotConfigured,
    RoomAvailable,
    UnboostablePhrase,
)
from earshot.streaming.requests import Describe
from earshot.streaming.results.results import alternative
from earshot.streaming.stream.backlog import MAX_REQUESTS
from earshot.streaming.stream_config import Boost, StreamConfig, StreamPriority
from earshot.streaming.workers import engine_pool, hang_watch, pool_watch
from earshot.streaming.workers.engine_pool import EnginePool
from earshot.streaming.workers.worker_link import WorkerLink

WAIT_S = 60


@pytest.fixture
def make_pool(tone_model):
    """Makes and starts pools of two engines for the model that hears tones."""
    pools = []

    def make(observer=None, max_streams=4, **options) -> EnginePool:
        config = EngineConfig(
            threads=1, chunk_size=8, num_left_chunks=2, max_streams=max_streams // 2, **options
        )
        recognizer = build_recognizer(tone_model, config)
        pools.append(EnginePool(recognizer, config, 2, max_streams, observer))
        pools[-1].start()
        return pools[-1]

    yield make
    for pool in pools:
        pool.stop(WAIT_S)


def pid_of(stream) -> int:
    pid = stream.engine_pid
    assert pid is not None
    return pid


def pushed(stream, samples) -> bool:
    try:
        stream.push(samples)
    except BacklogFull:
        return False
    return True


def test_a_stream_says_the_same_wherever_it_is(make_pool, tone_engine, sounds):
    pool = make_pool()
    config = StreamConfig(vad_events=True, utterance_end_ms=1000)
    samples = np.concatenate(
        [sounds.speech("一二"), np.zeros(24_000, np.float32), sounds.speech("三")]
    )
    expected = sounds.transcribe(tone_engine, samples, config).events
    assert [sounds.transcribe(pool, samples, config).events for _ in range(2)] == [expected] * 2


def test_streams_are_spread_over_the_engines(make_pool, sounds):
    pool = make_pool()
    streams = [pool.open(StreamConfig(), sounds.Listener()) for _ in range(4)]
    pids = [pid_of(stream) for stream in streams]
    assert sorted(pids.count(pid) for pid in set(pids)) == [2, 2]
    assert os.getpid() not in pids


def test_a_slot_is_free_again_when_its_stream_is_closed(make_pool, sounds):
    pool = make_pool(max_streams=2)
    listeners = [sounds.Listener() for _ in range(2)]
    streams = [pool.open(StreamConfig(), listener) for listener in listeners]
    assert not pool.can_open()
    with pytest.raises(EngineFull, match="all 2 slots"):
        pool.open(StreamConfig(), sounds.Listener())
    streams[0].cancel()
    streams[0].cancel()
    assert isinstance(listeners[0].wait_for_last(), Closed)
    assert pool.can_open()
    assert pid_of(pool.open(StreamConfig(), sounds.Listener())) == pid_of(streams[0])
    with pytest.raises(StreamClosed):
        streams[0].finish()


def test_what_the_recogniser_cannot_do_is_refused_before_it_is_asked(make_pool, sounds):
    pool = make_pool()
    with pytest.raises(InvalidStreamConfig, match="there is no decoding graph here"):
        pool.open(StreamConfig(mode="ctc_wfst_beam_search"), sounds.Listener())
    stream = pool.open(StreamConfig(), sounds.Listener())
    with pytest.raises(InvalidAudio):
        stream.push(np.full(100, np.nan, np.float32))


def test_what_has_no_room_is_refused_and_fits_once_there_is(make_pool, sounds):
    pool = make_pool(max_backlog_s=1.0)
    samples, listener = sounds.speech("一二三四五六七八九"), sounds.Listener()
    stream = pool.open(StreamConfig(interim_results=False), listener)
    for start in range(0, len(samples), 8000):
        told = len(listener.of(RoomAvailable))
        while not pushed(stream, samples[start : start + 8000]):
            listener.wait_for(lambda _, told=told: len(listener.of(RoomAvailable)) > told)
            told += 1
    stream.finish()
    listener.wait_for_last()
    assert listener.of(RoomAvailable)
    assert listener.text == "一二三四五六七八九"


def test_a_configure_is_answered_in_its_turn(make_pool, sounds):
    listener = sounds.Listener()
    stream = make_pool().open(StreamConfig(), listener)
    stream.configure([Boost("x")])
    stream.configure([], weights={"large_lm": 1.0})
    stream.finalize()
    stream.finish()
    listener.wait_for_last()
    answers = [e for e in listener.events if isinstance(e, Configured | NotConfigured | Final)]
    assert [type(answer) for answer in answers] == [Configured, NotConfigured, Final, Final]
    assert answers[0].warnings == (UnboostablePhrase("x", answers[0].warnings[0].reason),)


def test_too_many_requests_are_refused_and_taken_again_later(make_pool, sounds):
    listener = sounds.Listener()
    stream = make_pool().open(StreamConfig(), listener)
    os.kill(pid_of(stream), signal.SIGSTOP)
    for _ in range(MAX_REQUESTS):
        stream.finalize()
    with pytest.raises(BacklogFull, match="64 requests"):
        stream.finalize()
    os.kill(pid_of(stream), signal.SIGCONT)
    listener.wait_for(lambda event: isinstance(event, RoomAvailable))
    listener.wait_for(lambda _: len(listener.of(Final)) == MAX_REQUESTS)
    stream.finalize()


def test_nobody_waits_for_an_engine_that_hangs(make_pool, sounds):
    pool = make_pool(max_backlog_s=30.0)
    hanging = pool.open(StreamConfig(), sounds.Listener())
    os.kill(pid_of(hanging), signal.SIGSTOP)
    for _ in range(29):
        hanging.push(np.zeros(16_000, np.float32))
    assert hanging.backlog_s == pytest.approx(29.0)
    assert sounds.transcribe(pool, sounds.speech("一")).text == "一"
    os.kill(pid_of(hanging), signal.SIGCONT)


def test_a_process_that_is_killed_takes_its_own_streams_alone(make_pool, sounds, caplog):
    pool = make_pool()
    listeners = [sounds.Listener() for _ in range(2)]
    streams = [pool.open(StreamConfig(), listener) for listener in listeners]
    os.kill(pid_of(streams[0]), signal.SIGKILL)
    failed = listeners[0].wait_for_last()
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, EngineStopped)
    assert "has ended: SIGKILL" in caplog.text
    sounds.push_all(streams[1], sounds.speech("一二"))
    streams[1].finish()
    listeners[1].wait_for_last()
    assert listeners[1].text == "一二"
    assert not pool.running
    with pytest.raises(EngineStopped):
        pool.open(StreamConfig(), sounds.Listener())
    with pytest.raises(StreamClosed):
        streams[0].push(np.zeros(100, np.float32))


@pytest.fixture
def told_by_the_watch():
    """What the log is told of late and hung engines."""
    told, log = queue.SimpleQueue(), logging.getLogger(pool_watch.__name__)
    handler = logging.Handler()
    handler.emit = lambda record: told.put(record.getMessage())
    log.addHandler(handler)
    yield lambda: told.get(timeout=WAIT_S)
    log.removeHandler(handler)


def test_while_an_engine_is_late_nobody_is_let_in(
    make_pool, sounds, monkeypatch, told_by_the_watch
):
    monkeypatch.setattr(hang_watch, "LATE_S", 0.5)
    pool, listener = make_pool(), sounds.Listener()
    stream = pool.open(StreamConfig(), listener)
    os.kill(pid_of(stream), signal.SIGSTOP)
    stream.finalize()
    assert f"(pid {pid_of(stream)}) has not worked" in told_by_the_watch()
    assert (pool.running, pool.ready, pool.can_open()) == (True, False, False)
    assert pool.stats.late_engines == 1
    with pytest.raises(EngineStopped, match="does not answer"):
        pool.open(StreamConfig(), sounds.Listener())
    os.kill(pid_of(stream), signal.SIGCONT)
    assert told_by_the_watch().endswith("works again")
    assert (pool.ready, pool.can_open()) == (True, True)
    listener.wait_for(lambda event: isinstance(event, Final))


def test_an_engine_that_hangs_is_killed_and_its_streams_fail(make_pool, sounds, monkeypatch):
    monkeypatch.setattr(hang_watch, "HUNG_S", 0.5)
    pool, listeners = make_pool(), [sounds.Listener() for _ in range(2)]
    hanging, healthy = (pool.open(StreamConfig(), listener) for listener in listeners)
    os.kill(pid_of(hanging), signal.SIGSTOP)
    hanging.push(sounds.speech("一"))
    failed = listeners[0].wait_for_last()
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, EngineStopped)
    assert not pool.running
    healthy.finish()
    assert isinstance(listeners[1].wait_for_last(), Closed)


def test_stopping_ends_the_processes_and_tells_who_is_left(make_pool, sounds):
    pool, listener = make_pool(), sounds.Listener()
    stream = pool.open(StreamConfig(), listener)
    assert pool.stop(WAIT_S)
    assert isinstance(listener.wait_for_last(), Failed)
    assert not Path(f"/proc/{pid_of(stream)}").exists()
    assert not pool.running


def test_one_that_does_not_stop_is_killed(make_pool, sounds):
    pool = make_pool()
    stream = pool.open(StreamConfig(), sounds.Listener())
    os.kill(pid_of(stream), signal.SIGSTOP)
    assert not pool.stop(timeout_s=0.5)
    assert not Path(f"/proc/{pid_of(stream)}").exists()


def test_what_they_count_is_added_up(make_pool, sounds):
    reports, news = [], threading.Condition()

    def observe(report):
        with news:
            reports.append(report)
            news.notify()

    pool = make_pool(observe)
    for _ in range(2):
        sounds.transcribe(pool, sounds.speech("一"))
    with news:  # a step is counted after its last event was told
        assert news.wait_for(lambda: pool.stats.finals == 2, WAIT_S)
    open_file = pool.open(StreamConfig(), sounds.Listener(), StreamPriority.FILE)
    stats = pool.stats
    assert (stats.steps, stats.lanes) == (len(reports), sum(report.lanes for report in reports))
    assert (stats.max_streams, stats.live_streams, stats.file_streams) == (4, 0, 1)
    open_file.cancel()


def test_the_cpu_time_of_its_processes_is_counted(make_pool, sounds):
    pool = make_pool()
    while pool.stats.worker_cpu_s == 0:  # the kernel counts in hundredths of a second
        sounds.transcribe(pool, sounds.speech("一"))


def test_audio_that_is_not_decoded_is_work_that_waits(make_pool, sounds):
    pool, listener = make_pool(), sounds.Listener()
    stream = pool.open(StreamConfig(), listener)
    [worker] = [worker for worker in pool._workers if worker.seats]
    stream.push(np.zeros(800, np.float32))  # less than a chunk
    stream.ask(Describe())
    listener.wait_for(lambda event: isinstance(event, Described))
    while worker.link.has_untaken:  # the answer may overtake the count
        pass
    assert worker.work_waits
    stream.cancel()
    listener.wait_for_last()
    while worker.link.has_untaken:
        pass
    assert not worker.work_waits


def test_a_result_that_cannot_be_sent_fails_its_stream_alone(make_pool, sounds, monkeypatch):
    def unsendable(scored, clock):
        said = alternative(scored, clock)
        return replace(said, score=lambda: 0.0) if "九" in said.text else said

    monkeypatch.setattr(publisher, "alternative", unsendable)  # before the fork
    pool = make_pool(max_streams=2)
    listeners = [sounds.Listener() for _ in range(2)]
    for listener, text in zip(listeners, ("一九", "一二"), strict=True):
        stream = pool.open(StreamConfig(), listener)
        sounds.push_all(stream, sounds.speech(text))
        stream.finish()
    failed = listeners[0].wait_for_last()
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, DecodingFailed)
    assert isinstance(listeners[1].wait_for_last(), Closed)
    assert listeners[1].text == "一二"
    assert sounds.transcribe(pool, sounds.speech("三")).text == "三", "its slot is free again"


def test_engines_that_do_not_end_are_waited_for_no_longer_than_one_is(make_pool, monkeypatch):
    pool, now, given, stop = make_pool(), [0.0], [], WorkerLink.stop

    def busy(link: WorkerLink, timeout_s: float) -> bool:
        given.append(timeout_s)
        now[0] += timeout_s
        return stop(link, WAIT_S)

    with monkeypatch.context() as patch:
        patch.setattr(engine_pool, "monotonic", lambda: now[0], raising=False)
        patch.setattr(WorkerLink, "stop", busy)
        assert pool.stop(5.0)
    assert given == [5.0, 0.0]
