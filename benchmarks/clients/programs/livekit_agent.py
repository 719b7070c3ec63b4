"""LiveKit's plugin for Deepgram, as an agent has it: live, a whole recording, what is refused."""

import asyncio
from pathlib import Path

import aiohttp
from livekit import rtc
from livekit.agents import APIConnectOptions, APIError, stt
from livekit.plugins import deepgram
from seen import UNKNOWN, Seen, arguments, samples, spoken

RATE = 16000
ONCE = APIConnectOptions(max_retry=0)


def frame(audio: bytes) -> rtc.AudioFrame:
    """Samples as LiveKit carries them."""
    return rtc.AudioFrame(audio, RATE, 1, len(audio) // 2)


async def speak(stream: stt.SpeechStream, file: Path) -> None:
    """All of a file's samples."""
    async for piece in spoken(file):
        stream.push_frame(frame(piece))
    stream.end_input()


async def hear_live(service: deepgram.STT, file: Path, seen: Seen) -> None:
    """A stream with partials."""
    async with service.stream(conn_options=ONCE) as stream:
        speaking = asyncio.create_task(speak(stream, file))
        async for event in stream:
            if event.alternatives:
                is_final = event.type == stt.SpeechEventType.FINAL_TRANSCRIPT
                seen.hear(event.alternatives[0].text, is_final=is_final)
        await speaking


async def main() -> None:
    """Say what was seen."""
    address, file = arguments()
    seen, url = Seen(), f"http://{address}/v1/listen"
    async with aiohttp.ClientSession() as session:
        where = {"api_key": "any", "base_url": url, "http_session": session}
        service = deepgram.STT(**where)
        await hear_live(service, file, seen)
        whole = await service.recognize(frame(samples(file)), conn_options=ONCE)
        seen.files.append(whole.alternatives[0].text)
        wrong = deepgram.STT(model=UNKNOWN, **where)
        try:
            await hear_live(wrong, file, seen)
        except APIError as error:
            seen.fail(type(error).__name__, error)
        try:
            await wrong.recognize(frame(samples(file)), conn_options=ONCE)
        except APIError as error:
            seen.fail(type(error).__name__, error)
    seen.show()


if __name__ == "__main__":
    asyncio.run(main())
