"""How many streams may be unpacked at once."""

import threading

from earshot.service.audio.packed import Packing
from earshot.service.audio.unpacking.unpacker import Unpacker
from earshot.service.errors import NoUnpacker

RETRY_S = 5


class Unpackers:
    """Opens unpackers for a model; limit: threads at once, None for as many as are asked for."""

    def __init__(self, limit: int | None, model_rate_hz: int) -> None:
        self._limit = limit
        self._model_rate_hz = model_rate_hz
        self._lock = threading.Lock()
        self._running = 0

    def __len__(self) -> int:
        return self._running

    def open(self, packing: Packing) -> Unpacker:
        """Start a thread. Raises NoUnpacker where as many as may run do so."""
        with self._lock:
            if self._limit is not None and self._running >= self._limit:
                raise NoUnpacker(
                    f"{self._running} sockets send containers already: send samples, as "
                    "encoding=linear16, or try again",
                    RETRY_S,
                )
            self._running += 1
        return Unpacker(packing, self._model_rate_hz, self._ended)

    def _ended(self) -> None:
        with self._lock:
            self._running -= 1
