"""The way from a session to its streams where audio has to be unpacked first: all in order."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TypeAlias

from earshot.service.audio.packed import Packed, Packing
from earshot.service.audio.unpacking.unpacker import Unpacker
from earshot.service.sessions.actions import Ask, pushed
from earshot.streaming.requests import Cancel

OpenUnpacker: TypeAlias = Callable[[Packing], Unpacker]
"""Raises NoUnpacker."""


class Intake:
    """Passes asks on at once or, once there was a container, behind the samples of all before.

    What it holds is bounded because its session reads no more while `wait_for_room` waits. All
    belongs to the event loop.
    """

    def __init__(
        self,
        perform: Callable[[Ask], None],
        room: Callable[[], Awaitable[None]],
        open_unpacker: OpenUnpacker | None,
    ) -> None:
        """perform: does an ask. room: waits until streams take more. open_unpacker: if any may."""
        self._perform = perform
        self._room = room
        self._open = open_unpacker
        self._unpacker: Unpacker | None = None
        self._waiting: asyncio.Queue[Ask | Packed] = asyncio.Queue()
        self._has_stopped = False

    def ask(self, ask: Ask) -> None:
        """Ask behind all before it, or `Cancel` at once; of all streams it stops the rest too."""
        if isinstance(ask.request, Cancel):
            if ask.channel is None:
                self.stop()
            self._perform(ask)
        elif self._unpacker is None:
            self._perform(ask)
        elif not self._has_stopped:
            self._waiting.put_nowait(ask)

    def unpack(self, packed: Packed) -> None:
        """Decode a container's bytes. Raises NoUnpacker for the first where none is free."""
        if self._has_stopped:
            return
        if self._unpacker is None:
            assert self._open is not None, "this session's protocol has no containers"
            self._unpacker = self._open(packed.packing)
        self._waiting.put_nowait(packed)

    def stop(self) -> None:
        """Drop what waits, and end the unpacker's thread."""
        self._has_stopped = True
        if self._unpacker is not None:
            self._unpacker.close()

    async def wait_for_room(self) -> None:
        """Return when nothing waits."""
        await self._waiting.join()

    async def run(self) -> None:
        """Do what waits; never returns. Raises UndecodableAudio."""
        while True:
            waiting = await self._waiting.get()
            if isinstance(waiting, Packed):
                await self._unpack(waiting)
            elif not self._has_stopped:
                self._perform(waiting)
            self._waiting.task_done()

    async def _unpack(self, packed: Packed) -> None:
        assert self._unpacker is not None
        async with aclosing(self._unpacker.unpack(packed.data, last=packed.last)) as unpacked:
            async for samples in unpacked:
                for ask in pushed(samples):
                    if isinstance(ask, Ask) and not self._has_stopped:
                        self._perform(ask)
                await self._room()
