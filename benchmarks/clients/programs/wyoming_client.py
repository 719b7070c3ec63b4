"""Wyoming's own client, as Home Assistant uses it: an utterance, and what is refused."""

import asyncio
from pathlib import Path

from seen import Seen, arguments, spoken
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error

FORMAT = {"rate": 16000, "width": 2, "channels": 1}


async def hear_utterance(client: AsyncTcpClient, file: Path, seen: Seen) -> None:
    """All of a file's samples."""
    await client.write_event(Transcribe(language="en").event())
    await client.write_event(AudioStart(**FORMAT).event())
    async for piece in spoken(file):
        await client.write_event(AudioChunk(audio=piece, **FORMAT).event())
    await client.write_event(AudioStop().event())
    event = await client.read_event()
    if event is not None and Transcript.is_type(event.type):
        seen.hear(Transcript.from_event(event).text, is_final=True)


async def refused(client: AsyncTcpClient, seen: Seen) -> None:
    """A language that the model does not know."""
    await client.write_event(Transcribe(language="xx").event())
    await client.write_event(AudioStart(**FORMAT).event())
    event = await client.read_event()
    if event is not None and Error.is_type(event.type):
        seen.fail(f"event {event.type}", Error.from_event(event).text)


async def main() -> None:
    """Say what was seen."""
    address, file = arguments()
    seen, (host, port) = Seen(), address.split(":")
    async with AsyncTcpClient(host, int(port)) as client:
        await asyncio.wait_for(hear_utterance(client, file, seen), 60)
    async with AsyncTcpClient(host, int(port)) as client:
        await asyncio.wait_for(refused(client, seen), 30)
    seen.show()


if __name__ == "__main__":
    asyncio.run(main())
