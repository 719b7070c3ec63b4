"""Deepgram's SDK for Python, releases 6 and 7: live, a file, and what each refuses."""

import asyncio
from pathlib import Path
from typing import Any

from deepgram import AsyncDeepgramClient
from deepgram.core.api_error import ApiError
from deepgram.core.events import EventType
from deepgram.environment import DeepgramClientEnvironment
from seen import UNKNOWN, Seen, arguments, spoken


def client_of(address: str) -> AsyncDeepgramClient:
    """A client that is pointed at the server; releases before 7.2 have no `agent_rest`."""
    http, ws = f"http://{address}", f"ws://{address}"
    where = {"base": http, "production": ws, "agent": ws}
    try:
        environment = DeepgramClientEnvironment(**where, agent_rest=http)
    except TypeError:
        environment = DeepgramClientEnvironment(**where)
    return AsyncDeepgramClient(api_key="any", environment=environment)


async def hear_live(client: AsyncDeepgramClient, file: Path, seen: Seen) -> None:
    """A stream with partials."""

    def hear(message: Any) -> None:
        if message.type == "Results":
            text = message.channel.alternatives[0].transcript
            seen.hear(text, is_final=message.is_final)

    async with client.listen.v1.connect(
        model="nova-3", encoding="linear16", sample_rate="16000", interim_results="true"
    ) as connection:
        connection.on(EventType.MESSAGE, hear)
        listening = asyncio.create_task(connection.start_listening())
        async for piece in spoken(file):
            await connection.send_media(piece)
        await connection.send_close_stream()
        await listening


def tell(seen: Seen, error: ApiError) -> None:
    """By its class and status."""
    seen.fail(f"{type(error).__name__} {error.status_code}", error.body)


async def refused(client: AsyncDeepgramClient, seen: Seen) -> None:
    """A model that nobody has, and a file that is none."""
    try:
        async with client.listen.v1.connect(model=UNKNOWN):
            pass
    except ApiError as error:
        tell(seen, error)
    try:
        await client.listen.v1.media.transcribe_file(request=b"garbage", model="nova-3")
    except ApiError as error:
        tell(seen, error)


async def main() -> None:
    """Say what was seen."""
    address, file = arguments()
    client, seen = client_of(address), Seen()
    await hear_live(client, file, seen)
    answer = await client.listen.v1.media.transcribe_file(request=file.read_bytes(), model="nova-3")
    seen.files.append(answer.results.channels[0].alternatives[0].transcript)
    await refused(client, seen)
    seen.show()


if __name__ == "__main__":
    asyncio.run(main())
