"""What is seen of a worker from outside, whose steps may never return."""

import multiprocessing
import os
import queue
import signal

import pytest
from knock_recognizer import KnockRecognizer, loaded_knocks, sound

from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Closed, Failed
from earshot.streaming.requests import Cancel, Flush, Push
from earshot.streaming.stream_config import StreamConfig, StreamPriority
from earshot.streaming.stream_name import NAMELESS
from earshot.streaming.workers import hang_watch
from earshot.streaming.workers.engine_pool import EnginePool
from earshot.streaming.workers.messages import OpenStream
from earshot.streaming.workers.worker_link import WorkerLink

WAIT_S = 60
CONFIG = EngineConfig(max_streams=2, threads=1)


class HeldRecognizer(KnockRecognizer):
    """Its steps wait for the test."""

    def __init__(self):
        super().__init__(loaded_knocks(), CONFIG)
        context = multiprocessing.get_context("fork")
        self.arrived = context.Event()
        self.go = context.Semaphore(0)  # an event would wait for a sleeper that was killed

    def encode(self, lanes):
        self.arrived.set()
        with self.go:
            super().encode(lanes)


class Worker:
    """A link, and the ends of its streams."""

    def __init__(self, recognizer):
        self.link = WorkerLink(recognizer, CONFIG, "engine-0")
        self._ends = queue.SimpleQueue()
        self.link.start(self._hear, lambda _: None, lambda: self._ends.put(None))

    def _hear(self, number, event):
        if isinstance(event, Closed | Failed):
            self._ends.put((number, event))

    def begin(self, number):
        """A stream with something to decode."""
        self.link.ask(OpenStream(number, 0, StreamConfig(), StreamPriority.LIVE, NAMELESS))
        self.link.ask((number, Push(sound(0.1, 0.2))))
        self.link.ask((number, Flush(last=True)))

    def ended(self):
        return self._ends.get(timeout=WAIT_S)


@pytest.fixture
def held():
    return HeldRecognizer()


@pytest.fixture
def worker(held):
    worker = Worker(held)
    yield worker
    held.go.release()
    worker.link.stop(WAIT_S)


def test_the_first_step_owes_no_beat_and_later_ones_do(held, worker):
    worker.begin(0)
    assert held.arrived.wait(WAIT_S)
    assert worker.link.memory.heartbeat.read().busy
    assert not worker.link.signs.busy
    held.go.release()
    assert isinstance(worker.ended()[1], Closed)
    held.go.acquire()
    held.arrived.clear()
    worker.begin(1)
    assert held.arrived.wait(WAIT_S)
    assert worker.link.signs.busy


def test_what_a_worker_has_not_taken_is_known(held, worker):
    held.go.release()
    worker.begin(0)
    assert isinstance(worker.ended()[1], Closed)
    while worker.link.has_untaken:
        """The last one is counted when it is done."""
    os.kill(worker.link.pid, signal.SIGSTOP)
    worker.link.ask((0, Cancel()))
    while not worker.link.has_untaken:
        """The link sends in its own time."""
    os.kill(worker.link.pid, signal.SIGCONT)
    while worker.link.has_untaken:
        """It goes on."""


def test_a_worker_that_is_killed_is_gone(worker):
    worker.link.kill()
    assert worker.ended() is None
    assert not worker.link.alive


def test_an_engine_whose_step_never_returns_is_killed(held, sounds, monkeypatch):
    held.go.release()
    pool = EnginePool(held, CONFIG, 1, 2)
    pool.start()
    try:
        sounds.transcribe(pool, sound(0.1, 0.2))
        held.go.acquire()
        monkeypatch.setattr(hang_watch, "HUNG_S", 0.5)
        listener = sounds.Listener()
        stream = pool.open(StreamConfig(), listener)
        stream.push(sound(0.1, 0.2))
        stream.finish()
        assert isinstance(listener.wait_for_last(), Failed)
        assert not pool.running
    finally:
        pool.stop(WAIT_S)
