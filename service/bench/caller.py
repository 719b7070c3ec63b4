"""One simulated speaker: sends utterances in real time and times what comes back."""

import asyncio
import json
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from earshot.service.bench.clips import BYTES_PER_SECOND, RATE_HZ, Clip
from earshot.service.bench.measurements import Heard, Measurements

FRAME_MS = 100
FRAME_S = FRAME_MS / 1000
FRAME_BYTES = BYTES_PER_SECOND * FRAME_MS // 1000
QUERY = f"encoding=linear16&sample_rate={RATE_HZ}&interim_results=true"
AS_THE_PAGE = f"{QUERY}&punctuate=true"
"""With capitals and marks, also in partials, as our page and command line ask for them."""

FINALIZE = '{"type": "Finalize"}'
CLOSE_STREAM = '{"type": "CloseStream"}'
LAST_RESULTS_S = 30.0


@dataclass(frozen=True)
class Window:
    """When a run measures, on the monotonic clock: after all callers started, until the end."""

    opens_at: float
    closes_at: float


@dataclass(frozen=True)
class _Asked:
    clip: Clip
    due_at: float


@dataclass(frozen=True)
class Change:
    """A control message, and after how many seconds of a caller's audio it is sent."""

    at_s: float
    message: str


class Caller:
    """Speaks clips over one socket from its start until the window closes.

    changes: what it asks for on the way, in order.
    """

    def __init__(
        self,
        url: str,
        clips: Iterator[Clip],
        alone: Mapping[str, str],
        window: Window,
        changes: Iterable[Change] = (),
    ) -> None:
        self._url = url
        self._clips = clips
        self._changes = iter(changes)
        self._alone = alone
        self._window = window
        self._asked: deque[_Asked] = deque()
        self._finals: list[dict[str, Any]] = []
        self._frames_due_from = 0.0

    async def run(self, start_at: float, into: Measurements) -> None:
        """Wait for the start, speak, and note everything in ``into``."""
        await _until(start_at)
        try:
            async with connect(f"{self._url}/v1/listen?{AS_THE_PAGE}", proxy=None) as socket:
                listening = asyncio.create_task(self._listen(socket, into))
                await self._speak(socket, into)
                async with asyncio.timeout(LAST_RESULTS_S):
                    await listening
        except (WebSocketException, OSError, TimeoutError) as error:
            into.failures.append(repr(error))

    async def _speak(self, socket: ClientConnection, into: Measurements) -> None:
        self._frames_due_from = due_at = time.monotonic()
        change = next(self._changes, None)
        for clip in self._clips:
            if due_at + clip.duration_s > self._window.closes_at:
                break
            for at in range(0, len(clip.pcm), FRAME_BYTES):
                frame = clip.pcm[at : at + FRAME_BYTES]
                # A microphone hands a frame over when it is full, not when it begins.
                due_at += len(frame) / BYTES_PER_SECOND
                await _until(due_at)
                await socket.send(frame)
                if self._window.opens_at <= due_at:
                    into.send_delays_s.append(time.monotonic() - due_at)
                    into.audio_s += len(frame) / BYTES_PER_SECOND
                while change is not None and change.at_s <= due_at - self._frames_due_from:
                    await socket.send(change.message)
                    into.changes += 1
                    change = next(self._changes, None)
            self._asked.append(_Asked(clip, due_at))
            await socket.send(FINALIZE)
        await socket.send(CLOSE_STREAM)

    async def _listen(self, socket: ClientConnection, into: Measurements) -> None:
        async for data in socket:
            message = json.loads(data)
            if message["type"] == "Results":
                self._result(message, time.monotonic(), into)
            elif message["type"] == "ConfigureFailure":
                into.refused_changes += 1
            elif message["type"] == "Error":
                into.failures.append(message["description"])

    def _result(self, message: dict[str, Any], now: float, into: Measurements) -> None:
        counts = self._window.opens_at <= now
        if not message["is_final"]:
            covered_s = message["start"] + message["duration"]
            if counts:
                into.partial_latencies_s.append(now - self._due(covered_s))
            return
        self._finals.append(message["channel"]["alternatives"][0])
        if message["from_finalize"]:
            asked, finals, self._finals = self._asked.popleft(), self._finals, []
            if counts:
                into.heard.append(self._heard(asked, finals, now))

    def _heard(self, asked: _Asked, finals: Sequence[dict[str, Any]], now: float) -> Heard:
        return Heard(
            at_s=now - self._window.opens_at,
            final_latency_s=now - asked.due_at,
            text=" ".join(each["transcript"] for each in finals if each["transcript"]),
            words=" ".join(word["word"] for each in finals for word in each["words"]),
            alone=self._alone[asked.clip.name],
            truth=asked.clip.text,
        )

    def _due(self, audio_s: float) -> float:
        """When the frame that holds this moment of the stream's audio was due."""
        whole_frames = -(-audio_s // FRAME_S)
        return self._frames_due_from + whole_frames * FRAME_S


async def transcribe_alone(url: str, clip: Clip) -> str:
    """Return the text of ``clip`` as the only stream, sent as fast as the server takes it."""
    query = AS_THE_PAGE.replace("interim_results=true", "interim_results=false")
    async with connect(f"{url}/v1/listen?{query}", proxy=None) as socket:
        for at in range(0, len(clip.pcm), FRAME_BYTES):
            await socket.send(clip.pcm[at : at + FRAME_BYTES])
        await socket.send(FINALIZE)
        texts = []
        async for data in socket:
            message = json.loads(data)
            if message["type"] != "Results":
                continue
            texts.append(message["channel"]["alternatives"][0]["transcript"])
            if message["from_finalize"]:
                break
        return " ".join(filter(None, texts))


async def _until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - time.monotonic()))
