"""Deepgram's SDK for Python, Flux: turns live, and what is refused."""

import asyncio
from pathlib import Path
from typing import Any

from deepgram import AsyncDeepgramClient
from deepgram.core.api_error import ApiError
from deepgram.core.events import EventType
from deepgram_python import client_of, tell
from seen import UNKNOWN, Seen, arguments, spoken

AUDIO = {"model": "flux-general-en", "encoding": "linear16", "sample_rate": 16000}
EAGER = 0.4
SILENT_PIECES = 5
"""Of 100 ms each."""
RIGHT = {"type": "Configure", "thresholds": {"eot_timeout_ms": 4000}}
WRONG = {"type": "Configure", "thresholds": {"eot_threshold": 7.0}}


async def hear_turns(client: AsyncDeepgramClient, file: Path, seen: Seen) -> None:
    """A stream whose last turn the client ends, and two changes before it, of which one is none."""
    done = asyncio.Event()

    def hear(message: Any) -> None:
        if message.type == "TurnInfo":
            seen.hear(message.transcript, is_final=message.event == "EndOfTurn")
        elif message.type == "ConfigureSuccess":
            done.set()
        elif message.type == "ConfigureFailure":
            seen.fail(type(message).__name__, message.description)

    async with client.listen.v2.connect(**AUDIO, eager_eot_threshold=EAGER) as connection:
        connection.on(EventType.MESSAGE, hear)
        listening = asyncio.create_task(connection.start_listening())
        await connection.send_configure(RIGHT)
        await asyncio.wait_for(done.wait(), 10)
        await connection.send_configure(WRONG)
        async for piece in spoken(file):
            await connection.send_media(piece)
        for _ in range(SILENT_PIECES):  # a pause, in which the turn may well be over
            await connection.send_media(bytes(3200))
            await asyncio.sleep(0.1)
        await connection.send_force_end_turn()
        await connection.send_close_stream()
        await listening


async def main() -> None:
    """Say what was seen."""
    address, file = arguments()
    client, seen = client_of(address), Seen()
    await hear_turns(client, file, seen)
    try:
        async with client.listen.v2.connect(**{**AUDIO, "model": UNKNOWN}):
            pass
    except ApiError as error:
        tell(seen, error)
    seen.show()


if __name__ == "__main__":
    asyncio.run(main())
