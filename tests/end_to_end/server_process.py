"""A real `earshot serve` in a process of its own."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlencode

START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 30.0


@dataclass
class Server:
    """A running server: its process, what it logs, and where it listens."""

    process: subprocess.Popen[str]
    log: list[str] = field(default_factory=list)
    port: int = 0
    listening: threading.Event = field(default_factory=threading.Event)

    def follow(self) -> None:
        """Read the log to its end, so that the server never blocks on a full pipe."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.log.append(line)
            if '"event": "listening"' in line:
                self.port = json.loads(line)["port"]
                self.listening.set()
        self.listening.set()

    def http(self, path: str) -> str:
        """The URL of ``path``."""
        return f"http://127.0.0.1:{self.port}{path}"

    def listen_url(self, **parameters: object) -> str:
        """The WebSocket URL of a stream of 16 kHz linear16 with ``parameters``."""
        query = urlencode({"encoding": "linear16", "sample_rate": 16000, **parameters}, doseq=True)
        return f"ws://127.0.0.1:{self.port}/v1/listen?{query}"


Serve: TypeAlias = Callable[..., AbstractContextManager[Server]]


def earshot(*arguments: str) -> list[str]:
    """The command line of the installed console script."""
    return [str(Path(sys.executable).with_name("earshot")), *arguments]


@contextlib.contextmanager
def served(*flags: str) -> Iterator[Server]:
    """Start `earshot serve` with ``flags`` on a free port; end it on the way out."""
    process = subprocess.Popen(
        earshot("serve", "--port", "0", *flags),
        env={**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1", "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    server = Server(process)
    reader = threading.Thread(target=server.follow)
    reader.start()
    try:
        server.listening.wait(START_TIMEOUT_S)
        assert server.port, f"the server did not start:\n{''.join(server.log)}"
        yield server
    finally:
        end(process)
        reader.join()
        assert process.stdout is not None
        process.stdout.close()


def end(process: subprocess.Popen[str]) -> None:
    """Ask the process to stop; one that does not stop in time is a failure."""
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
