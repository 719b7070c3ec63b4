"""The sessions and files being served now, and how they end when the server stops."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

FLUSH_S = 8.0
"""Time for last results to be decoded and read once a job was told to end."""


class Job(Protocol):
    """A session or a file."""

    def drain(self) -> None:
        """End soon: the server stops."""


class LiveWork:
    """A set of jobs that can be waited for."""

    def __init__(self) -> None:
        self._jobs: set[Job] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    def __len__(self) -> int:
        return len(self._jobs)

    @contextmanager
    def doing(self, job: Job) -> Iterator[None]:
        """Count ``job`` as live inside the block."""
        self._jobs.add(job)
        self._idle.clear()
        try:
            yield
        finally:
            self._jobs.discard(job)
            if not self._jobs:
                self._idle.set()

    async def drain(self, drain_s: float) -> int:
        """Let jobs end by themselves for ``drain_s``, then tell them to; return what is left."""
        if not await self.wait(drain_s):
            for job in list(self._jobs):
                job.drain()
            await self.wait(FLUSH_S)
        return len(self._jobs)

    async def wait(self, timeout_s: float) -> bool:
        """Wait until nothing is live; False when that took too long."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True
