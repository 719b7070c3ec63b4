"""The server under test: one that runs already, or one of our own."""

import json
import subprocess
import sys
import threading
import urllib.request
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from earshot.service.errors import StartupError

STOP_S = 15.0
LOG_LINES_SHOWN = 5
_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Target:
    """Where the server is."""

    http_url: str

    @property
    def ws_url(self) -> str:
        """The same place for WebSockets."""
        return "ws" + self.http_url.removeprefix("http")

    def metrics(self) -> dict[str, float]:
        """Values of its metrics now, by name and labels."""
        with _NO_PROXY.open(f"{self.http_url}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        said = (line.rsplit(" ", 1) for line in lines if line[:1] != "#")
        return {name: float(value) for name, value in said}

    def cpu_s(self) -> float | None:
        """CPU seconds that the server has used, if its metrics say: those of an older one, too."""
        said = self.metrics()
        return said.get("earshot_cpu_seconds_total", said.get("process_cpu_seconds_total"))

    def model_name(self) -> str:
        """The model that it serves; raises StartupError if nothing answers."""
        try:
            with _NO_PROXY.open(f"{self.http_url}/v1/models", timeout=10) as answer:
                name: str = json.load(answer)["stt"][0]["name"]
        except OSError as error:
            raise StartupError(f"no server answers at {self.http_url}: {error}") from error
        return name


@contextmanager
def own_server(flags: Sequence[str]) -> Iterator[Target]:
    """Run `earshot serve` on a free port inside the block.

    Raises:
        StartupError: it did not start; the message is its own.
    """
    command = [sys.executable, "-m", "earshot.service", "serve", "--port", "0", *flags]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    log = _Log(process)
    try:
        yield Target(f"http://127.0.0.1:{log.port()}")
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.join()


class _Log(threading.Thread):
    """Reads the server's log, so that its pipe never fills, and picks the port out of it."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        super().__init__(daemon=True)
        self._process = process
        self._last: deque[str] = deque(maxlen=LOG_LINES_SHOWN)
        self._port: int | None = None
        self._known = threading.Event()
        self.start()

    def port(self) -> int:
        """Wait for the server to listen, or raise StartupError when it ends first."""
        self._known.wait()
        if self._port is None:
            raise StartupError("the server did not start: " + " | ".join(self._last))
        return self._port

    def run(self) -> None:
        """Read to the end."""
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._last.append(line.strip())
                if '"listening"' in line:
                    self._port = json.loads(line)["port"]
                    self._known.set()
        self._known.set()
