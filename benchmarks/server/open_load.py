"""Open-loop load on any server: users speak in real time, whatever it answers.

Each utterance has a connection of its own and begins when the one before it ends, even where that
one's final is still to come. Nobody else says the same words at the time, as long as there are more
utterances than users.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from benchmarks.server.talks import Talk, TalkFailed
from earshot.service.bench.caller import FRAME_BYTES, LAST_RESULTS_S, Window
from earshot.service.bench.clips import BYTES_PER_SECOND, Clip, playlist
from earshot.service.bench.load import START_SPREAD_S
from earshot.service.bench.measurements import LATE_S, Percentiles

BEFORE_FIRST_S = 0.5


@dataclass
class Heard:
    """What came of a run: of utterances that ended, and of audio that was due, in its window.

    cpu_s: of the server; own_cpu_s: of us who load it.
    """

    streams: int
    seconds: float
    finals_s: list[float] = field(default_factory=list)
    send_delays_s: list[float] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    audio_s: float = 0.0
    cpu_s: float = 0.0
    own_cpu_s: float = 0.0

    @property
    def final(self) -> Percentiles:
        """From when an utterance's last packet was due to when the server had said all of it."""
        return Percentiles.of(self.finals_s)

    @property
    def holds(self) -> bool:
        """Whether 95 % of finals came in time, and nothing failed."""
        return not self.failures and self.final.p95_ms <= LATE_S * 1000


class OpenLoad:
    """One run against one server."""

    def __init__(self, url: str, talk: Callable[[], Talk], streams: int, seconds: float) -> None:
        self._url, self._talk = url, talk
        self._heard = Heard(streams, seconds)
        begins = time.monotonic() + BEFORE_FIRST_S
        self._begins, self._spread_s = begins, min(START_SPREAD_S, seconds / 4)
        opens = begins + self._spread_s
        self._window = Window(opens, opens + seconds)
        self._counted: list[asyncio.Task[None]] = []
        self._cut: list[asyncio.Task[None]] = []

    async def run(self, clips: Sequence[Clip], cpu_s: Callable[[], float]) -> Heard:
        """Let them speak; `cpu_s` tells the server's CPU time."""
        streams, starts = self._heard.streams, random.Random(0)
        users = [
            asyncio.create_task(self._user(own, self._begins + starts.uniform(0, self._spread_s)))
            for own in shares(clips, streams)
        ]
        await until(self._window.opens_at)
        before, own_before = await asyncio.to_thread(cpu_s), time.process_time()
        await until(self._window.closes_at)
        self._heard.cpu_s = await asyncio.to_thread(cpu_s) - before
        self._heard.own_cpu_s = time.process_time() - own_before
        for each in self._cut:  # nobody counts what ends after the window
            each.cancel()
        await asyncio.gather(*users, *self._counted, *self._cut, return_exceptions=True)
        return self._heard

    async def _user(self, clips: Sequence[Clip], due_at: float) -> None:
        for clip in playlist(clips, 0):
            if due_at >= self._window.closes_at:
                return
            await until(due_at)
            saying = asyncio.create_task(self._say(clip, due_at))
            due_at += clip.duration_s
            (self._counted if due_at < self._window.closes_at else self._cut).append(saying)

    async def _say(self, clip: Clip, due_at: float) -> None:
        ends_at = due_at + clip.duration_s
        try:
            async with asyncio.timeout_at(ends_at + LAST_RESULTS_S):  # the loop's clock is ours
                await self._converse(self._talk(), clip, due_at, ends_at)
        except (WebSocketException, OSError, TimeoutError, TalkFailed) as error:
            self._heard.failures.append(repr(error))

    async def _converse(self, talk: Talk, clip: Clip, due_at: float, ends_at: float) -> None:
        async with connect(
            self._url + talk.path, proxy=None, compression=None, ping_interval=None,
            max_size=None, open_timeout=None,
        ) as socket:  # fmt: skip
            await asyncio.gather(self._send(socket, talk, clip, due_at), _listen(socket, talk))
            if self._window.opens_at <= ends_at:
                self._heard.finals_s.append(time.monotonic() - ends_at)
                self._heard.texts.append((clip.text or "", talk.text))

    async def _send(self, socket: ClientConnection, talk: Talk, clip: Clip, due_at: float) -> None:
        for at in range(0, len(clip.pcm), FRAME_BYTES):
            frame = clip.pcm[at : at + FRAME_BYTES]
            # A microphone hands a frame over when it is full, not when it begins.
            due_at += len(frame) / BYTES_PER_SECOND
            await until(due_at)
            await socket.send(talk.packet(frame))
            if self._window.opens_at <= due_at < self._window.closes_at:
                self._heard.send_delays_s.append(time.monotonic() - due_at)
                self._heard.audio_s += len(frame) / BYTES_PER_SECOND
        await socket.send(talk.goodbye)


async def _listen(socket: ClientConnection, talk: Talk) -> None:
    """To the last message; the final is the server's once it has said that it is done."""
    async for data in socket:
        talk.hear(data)
        if talk.ended:
            return
    raise TalkFailed("the connection ended before the last message")


def shares(clips: Sequence[Clip], users: int) -> list[Sequence[Clip]]:
    """Each user's own clips; some are shared where there are fewer clips than users."""
    return [clips[user % len(clips) :: users] for user in range(users)]


async def until(moment: float) -> None:
    """Sleep to a moment on the monotonic clock."""
    await asyncio.sleep(max(0.0, moment - time.monotonic()))
