"""A worker's process holds nothing of its pool's open, and does not outlive it."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.workers.engine_pool import EnginePool

WAIT_S = 60

OWNER = """
import queue, socket, sys
sys.path.insert(0, {folder!r})
from knock_recognizer import KnockRecognizer, loaded_knocks
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.workers.engine_pool import EnginePool
listener = socket.create_server(("127.0.0.1", 0))
config = EngineConfig(max_streams=1, threads=1)
pool = EnginePool(KnockRecognizer(loaded_knocks(), config), config, 2, 2)
pool.start()
events = queue.SimpleQueue()
streams = [pool.open(StreamConfig(), events.put) for _ in range(2)]
for stream in streams:
    stream.finalize()
for _ in streams:
    events.get()  # now both workers are at work
print(listener.getsockname()[1], *(stream.engine_pid for stream in streams), flush=True)
sys.stdin.read()
"""


@contextmanager
def owner_with(stderr: socket.socket | None) -> Iterator[subprocess.Popen[bytes]]:
    """A process that listens on a port and has a pool; it tells the port and the workers' ids."""
    folder = str(Path(__file__).parents[1])
    program = [sys.executable, "-c", OWNER.format(folder=folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=stderr) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def owner() -> Iterator[subprocess.Popen[bytes]]:
    with owner_with(stderr=None) as process:
        yield process


def told(owner: subprocess.Popen[bytes]) -> tuple[int, list[int]]:
    assert owner.stdout is not None
    port, *workers = map(int, owner.stdout.readline().split())
    return port, workers


@contextmanager
def ends_of(pids: list[int]) -> Iterator[list[int]]:
    """What tells of the ends of processes; whoever is left afterwards is killed."""
    ends = [os.pidfd_open(pid) for pid in pids]
    try:
        yield ends
    finally:
        for end in ends:
            if not has_ended(end, 0):
                signal.pidfd_send_signal(end, signal.SIGKILL)
            os.close(end)


def has_ended(end: int, wait_s: float = WAIT_S) -> bool:
    return bool(select.select([end], [], [], wait_s)[0])


def sockets_of(pid: int) -> set[str]:
    """The names by which the kernel knows the sockets of a process."""
    links = [entry.readlink() for entry in Path(f"/proc/{pid}/fd").iterdir()]
    return {str(link) for link in links if str(link).startswith("socket:")}


def test_no_process_outlives_a_pool_that_was_killed(owner):
    _, workers = told(owner)
    with ends_of(workers) as ends:
        owner.kill()
        assert all(has_ended(end) for end in ends)


def test_not_even_one_that_hangs(owner):
    _, workers = told(owner)
    with ends_of(workers) as ends:
        os.kill(workers[0], signal.SIGSTOP)
        owner.kill()
        assert all(has_ended(end) for end in ends)


def test_the_port_of_a_process_that_was_killed_is_free_at_once(owner):
    port, workers = told(owner)
    with ends_of(workers):
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        owner.kill()
        owner.wait(WAIT_S)
        socket.create_server(("127.0.0.1", port)).close()


def test_a_worker_has_no_socket_but_its_own_pipe(owner):
    _, workers = told(owner)
    first, second = (sockets_of(worker) for worker in workers)
    assert len(first) == len(second) == 1
    assert first != second


def test_a_log_that_is_a_socket_stays_open():
    log, of_owner = socket.socketpair()
    with log, of_owner, owner_with(stderr=of_owner) as owner:
        _, workers = told(owner)
        logs = [str(Path(f"/proc/{pid}/fd/2").readlink()) for pid in (owner.pid, *workers)]
        assert logs[0].startswith("socket:")
        assert logs == logs[:1] * 3


def test_a_pool_outlives_the_thread_that_made_it(tone_model, sounds):
    config = EngineConfig(threads=1, chunk_size=8, max_streams=1)
    recognizer = build_recognizer(tone_model, config)
    made: list[EnginePool] = []
    maker = threading.Thread(target=lambda: made.append(EnginePool(recognizer, config, 2, 2)))
    maker.start()
    maker.join(WAIT_S)
    [pool] = made
    pool.start()
    try:
        listener = sounds.Listener()
        pool.open(StreamConfig(), listener).finish()
        listener.wait_for_last()
        assert pool.running
    finally:
        pool.stop(WAIT_S)
