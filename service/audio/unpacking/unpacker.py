"""One stream's container, decoded on a thread of its own, which waits for bytes."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from enum import Enum
from typing import TypeAlias

import numpy as np

from earshot.service.audio.packed import Packing
from earshot.service.audio.unpacking.byte_pipe import BytePipe, PipeClosed
from earshot.service.audio.unpacking.demuxer import unpacked
from earshot.service.audio.unpacking.guarded_source import GuardedSource
from earshot.service.errors import UndecodableAudio
from earshot.streaming.samples import Samples

BLOCK_S = 0.5
MAX_BLOCKS = 4
"""Decoded and not yet taken; then the thread waits."""

MAX_TRAILER_BYTES = 64 * 1024
"""Behind the end of the recording by its own word: what some writers add."""


class _Sign(Enum):
    HUNGRY = "all bytes are decoded as far as can be"
    ENDED = "no samples follow"


_Out: TypeAlias = list[Samples] | _Sign | Exception


class Unpacker:
    """Bytes in, samples out, in order; all methods belong to the event loop.

    The thread lives until the last samples are out, an error or `close`; on_end is called on it.
    """

    def __init__(
        self, packing: Packing, model_rate_hz: int, on_end: Callable[[], None] = lambda: None
    ) -> None:
        self._packing = packing
        self._rate_hz = model_rate_hz
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._out: asyncio.Queue[_Out] = asyncio.Queue()
        self._room = threading.Semaphore(MAX_BLOCKS)
        self._pipe = BytePipe(self._hungry)
        self._is_closed = self._is_over = False
        self._trailer_bytes = 0
        self._pending: list[list[Samples]] = []  # the thread's own, as `_pending_s`
        self._pending_s = 0.0
        self._thread = threading.Thread(target=self._run, name="unpacker", daemon=True)
        self._thread.start()

    async def unpack(self, data: bytes, *, last: bool = False) -> AsyncGenerator[list[Samples]]:
        """Yield what ``data`` completes, of each channel heard apart; the next only after the last.

        Raises:
            UndecodableAudio: the bytes are not what they should be; the thread has ended.
        """
        if self._is_over:
            self._check_trailer(data)
            return
        self._pipe.give(data, last=last)
        while not isinstance(found := await self._out.get(), _Sign):
            if isinstance(found, Exception):
                self._is_over = True
                raise found
            yield found
            self._room.release()
        self._is_over = found is _Sign.ENDED

    def close(self) -> None:
        """End the thread soon, whatever it does."""
        self._is_closed = True
        self._pipe.close()
        self._room.release()

    def _check_trailer(self, data: bytes) -> None:
        self._trailer_bytes += len(data)
        if self._trailer_bytes > MAX_TRAILER_BYTES:
            raise UndecodableAudio(
                f"the {self._packing.container.name} stream has ended, and more bytes follow"
            )

    def _run(self) -> None:
        try:
            source = GuardedSource(self._pipe, self._packing.container)
            for samples in unpacked(source, self._packing, self._rate_hz):
                self._collect(samples)
            self._flush()
            self._post(_Sign.ENDED)
        except PipeClosed:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it was, its session is to hear of it
            self._post(error)
        finally:
            self._on_end()

    def _collect(self, samples: list[Samples]) -> None:
        self._pending.append(samples)
        self._pending_s += len(samples[0]) / self._rate_hz
        if self._pending_s >= BLOCK_S:
            self._flush()

    def _hungry(self) -> None:
        self._flush()
        self._post(_Sign.HUNGRY)

    def _flush(self) -> None:
        if not self._pending:
            return
        block = [np.concatenate(each) for each in zip(*self._pending, strict=True)]
        self._pending, self._pending_s = [], 0.0
        self._room.acquire()
        if self._is_closed:
            raise PipeClosed
        self._post(block)

    def _post(self, out: _Out) -> None:
        with suppress(RuntimeError):  # the loop is closed: the server has stopped
            self._loop.call_soon_threadsafe(self._out.put_nowait, out)
