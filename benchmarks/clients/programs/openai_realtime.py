"""OpenAI's SDK for Python, realtime: a session of transcription, and what it refuses."""

import asyncio
import base64
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI
from seen import Seen, arguments, spoken

TOLD = "conversation.item.input_audio_transcription."
SESSION = {
    "type": "transcription",
    "audio": {
        "input": {
            "format": {"type": "audio/pcm", "rate": 16000},
            "transcription": {"model": "gpt-4o-transcribe"},
            "turn_detection": None,
        }
    },
}
WRONG = {"type": "transcription", "audio": {"input": {"format": {"type": "audio/opus"}}}}


async def speak(connection: Any, file: Path) -> None:
    """All of a file's samples as one turn."""
    async for piece in spoken(file):
        await connection.input_audio_buffer.append(audio=base64.b64encode(piece).decode())
    await connection.input_audio_buffer.commit()


async def hear(connection: Any, seen: Seen) -> None:
    """What is told of one turn: its deltas, which come when words are stable, and its text."""
    async for event in connection:
        if event.type == TOLD + "delta":
            seen.hear(event.delta, is_final=False)
        elif event.type == TOLD + "completed":
            seen.hear(event.transcript, is_final=True)
            return


async def refused(connection: Any, seen: Seen) -> None:
    """A format that is none, and audio that is no base64."""
    await connection.session.update(session=WRONG)
    await connection.input_audio_buffer.append(audio="%%%")
    async for event in connection:
        if event.type == "error":
            seen.fail(f"event {event.type}", event.error.message)
            if len(seen.errors) == 2:
                return


async def main() -> None:
    """Say what was seen."""
    address, file = arguments()
    client, seen = AsyncOpenAI(base_url=f"http://{address}/v1", api_key="any"), Seen()
    async with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        await connection.session.update(session=SESSION)
        speaking = asyncio.create_task(speak(connection, file))
        await asyncio.wait_for(hear(connection, seen), 60)
        await speaking
    async with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        await asyncio.wait_for(refused(connection, seen), 30)
    seen.show()


if __name__ == "__main__":
    asyncio.run(main())
