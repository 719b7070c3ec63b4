"""A server of whatever make, started, watched and ended by the script that loads it."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HOST = "127.0.0.1"
START_S, STOP_S = 180.0, 20.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PARENT, FIRST_TIME, AFTER_TIMES = 1, 11, 15
"""In /proc/PID/stat after the name: the parent; user and system time, its own and those of
children that were waited for."""


@contextmanager
def server_process(command: Sequence[str], port: int, folder: Path) -> Iterator[int]:
    """Run it inside the block, from when it listens; its id.

    Raises RuntimeError, with the end of its log, for one that does not start.
    """
    log = folder / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        _wait_until_listening(process, port, log)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its engines too: the group is its own
            process.wait()


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as tried:
        tried.bind((HOST, 0))
        port: int = tried.getsockname()[1]
    return port


def cpu_s(pid: int) -> float:
    """CPU time of a process and all its descendants, also of those that were waited for."""
    stats = family_of(pid).values()
    return sum(int(ticks) for stat in stats for ticks in stat[FIRST_TIME:AFTER_TIMES]) / TICKS_PER_S


def family_of(pid: int) -> dict[int, list[str]]:
    """What /proc says of a process and of all its descendants; nothing where it has ended."""
    stats = dict(_stats())
    family = {pid} & stats.keys()
    while more := {child for child, stat in stats.items() if int(stat[PARENT]) in family} - family:
        family |= more
    return {each: stats[each] for each in family}


def _stats() -> Iterator[tuple[int, list[str]]]:
    """Of every process: its id, and the fields of its `stat` after the name."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue  # it has just ended
            yield int(folder.name), stat.rsplit(")", 1)[1].split()


def _wait_until_listening(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection((HOST, port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-2000:]}")
