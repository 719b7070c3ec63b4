"""One file of a request while it is being transcribed: progress out, cancellation in."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from earshot.service.core.engine_port import EnginePort
from earshot.service.errors import DrainExpired
from earshot.service.files.file_transcription import AudioSource
from earshot.service.files.recording import RecordingTranscription
from earshot.service.transcript import Transcript
from earshot.streaming.events import Event, Final
from earshot.streaming.stream_config import StreamConfig

PROGRESS_S = 0.5


class ClientGone(Exception):
    """Nobody waits for the transcript."""


@dataclass(frozen=True)
class Progress:
    """Seconds of audio decoded, and of how many, where the file says it."""

    done_s: float
    total_s: float | None = None


class FileJob:
    """Runs a transcription on a worker thread; all methods belong to the event loop.

    channels: how many are heard, each by itself.
    running: the future transcripts, one for each channel; it raises what
        RecordingTranscription.run raises.
    """

    def __init__(
        self,
        engine: EnginePort,
        sources: Sequence[AudioSource],
        config: StreamConfig,
        executor: Executor,
        request_id: str,
    ) -> None:
        self.channels = len(sources)
        self._loop = asyncio.get_running_loop()
        self._began_at = self._loop.time()
        self._finals: asyncio.Queue[tuple[int, Final]] = asyncio.Queue()
        self._transcription = RecordingTranscription(
            engine, sources, config, self._on_event, request_id
        )
        self.running: asyncio.Future[list[Transcript]] = self._loop.run_in_executor(
            executor, self._transcription.run
        )

    @property
    def age_s(self) -> float:
        """Seconds since the file was received."""
        return self._loop.time() - self._began_at

    def on_end(self, release: Callable[[], None]) -> None:
        """Call ``release`` when the worker thread is done, however that came."""

        def ended(running: asyncio.Future[list[Transcript]]) -> None:
            release()
            # An abandoned job's error has no reader; asyncio would complain of that.
            if not running.cancelled():
                running.exception()

        self.running.add_done_callback(ended)

    def drain(self) -> None:
        """Give up: the server stops."""
        self._transcription.cancel(DrainExpired("the server stopped before the file was done"))

    def abandon(self) -> None:
        """Give up if it still runs: the client is gone."""
        if not self.running.done():
            self._transcription.cancel(ClientGone())

    async def updates(self) -> AsyncIterator[tuple[int, Final] | Progress]:
        """Yield finals with their channel as they come, and progress twice a second."""
        yield self._progress()
        while not self.running.done():
            for final in await self._new_finals():
                yield final
            yield self._progress()
        while not self._finals.empty():
            yield self._finals.get_nowait()

    async def _new_finals(self) -> list[tuple[int, Final]]:
        """Wait for a final, the end, or the time of the next progress."""
        arriving = asyncio.ensure_future(self._finals.get())
        either: list[asyncio.Future[Any]] = [arriving, self.running]
        try:
            await asyncio.wait(either, timeout=PROGRESS_S, return_when=asyncio.FIRST_COMPLETED)
            return [arriving.result()] if arriving.done() else []
        finally:
            arriving.cancel()

    def _progress(self) -> Progress:
        return Progress(self._transcription.done_s, self._transcription.duration_s)

    def _on_event(self, channel: int, event: Event) -> None:
        if isinstance(event, Final):
            with suppress(RuntimeError):  # the loop is closed: the server stopped first
                self._loop.call_soon_threadsafe(self._finals.put_nowait, (channel, event))
