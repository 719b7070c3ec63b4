"""Who may come in, decided before a socket is accepted or a body is read."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from earshot.service.core.engine_port import EnginePort, Sink, StreamPort
from earshot.service.errors import Busy, NotReady
from earshot.streaming.errors import EngineFull, EngineStopped
from earshot.streaming.requests import Cancel
from earshot.streaming.stream_config import StreamConfig, StreamPriority
from earshot.streaming.stream_name import StreamName

BUSY_RETRY_S = 5
DRAIN_RETRY_S = 10
LATE_RETRY_S = 10


class Admission:
    """Hands out streams and file places while the server is ready and has any left."""

    def __init__(self, engine: EnginePort, max_file_requests: int) -> None:
        self.draining = False
        self._engine = engine
        self._max_file_requests = max_file_requests
        self._files = 0

    def check_alive(self) -> None:
        """Raise NotReady where only another process can help."""
        if not self._engine.running:
            raise NotReady("the engine has stopped", DRAIN_RETRY_S)

    def check_ready(self) -> None:
        """Raise NotReady while draining, without an engine, and while one is late."""
        if self.draining:
            raise NotReady("the server is draining", DRAIN_RETRY_S)
        self.check_alive()
        if not self._engine.ready:
            raise NotReady("an engine does not answer", LATE_RETRY_S)

    def check(self) -> None:
        """Raise NotReady or Busy if no stream could be opened now."""
        self.check_ready()
        if not self._engine.can_open():
            raise Busy("all streams are taken", BUSY_RETRY_S)

    def open_live(
        self, config: StreamConfig, sinks: Sequence[Sink], request_id: str
    ) -> list[StreamPort]:
        """Open a live stream for each sink, a channel's, all of them, or raise NotReady or Busy."""
        self.check_ready()
        opened: list[StreamPort] = []
        with ExitStack() as on_failure:
            try:
                for channel, sink in enumerate(sinks):
                    name = StreamName(request_id, channel)
                    opened.append(self._engine.open(config, sink, StreamPriority.LIVE, name))
                    on_failure.callback(opened[-1].ask, Cancel())
            except EngineFull as error:
                raise Busy("all streams are taken", BUSY_RETRY_S) from error
            except EngineStopped as error:
                raise NotReady("the engine is not running", DRAIN_RETRY_S) from error
            on_failure.pop_all()
        return opened

    @contextmanager
    def file_place(self) -> Iterator[None]:
        """Hold a file's place, from upload to answer, or raise NotReady or Busy."""
        self.check()
        if self._files >= self._max_file_requests:
            raise Busy(f"{self._files} files are waiting already", BUSY_RETRY_S)
        self._files += 1
        try:
            yield
        finally:
            self._files -= 1
