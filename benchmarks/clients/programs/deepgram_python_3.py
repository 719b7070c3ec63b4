"""Deepgram's SDK for Python, release 3: live, a file, and what each refuses."""

import asyncio
from pathlib import Path
from typing import Any

from deepgram import DeepgramClient, DeepgramClientOptions, LiveOptions, LiveTranscriptionEvents
from deepgram.clients.common.v1.errors import DeepgramApiError
from seen import UNKNOWN, Seen, arguments, spoken
from websockets.exceptions import InvalidStatus


def client_of(address: str) -> DeepgramClient:
    """A client that is pointed at the server, and raises what a handshake brings."""
    raising = {"termination_exception_connect": True}
    return DeepgramClient("any", DeepgramClientOptions(url=f"http://{address}", options=raising))


async def hear_live(client: DeepgramClient, file: Path, seen: Seen) -> None:
    """A stream with partials."""
    told, ended = client.listen.asyncwebsocket.v("1"), asyncio.Event()

    async def hear(_: Any, result: Any, **__: Any) -> None:
        seen.hear(result.channel.alternatives[0].transcript, is_final=result.is_final)
        if result.from_finalize:
            ended.set()

    told.on(LiveTranscriptionEvents.Transcript, hear)
    options = LiveOptions(
        model="nova-3", encoding="linear16", sample_rate=16000, interim_results=True
    )
    if not await told.start(options):
        raise ConnectionError("the SDK did not connect")
    async for piece in spoken(file):
        await told.send(piece)
    # Its finish() hears no more than half a second longer, whatever is still to come.
    await told.finalize()
    await asyncio.wait_for(ended.wait(), 30)
    await told.finish()


async def refused(client: DeepgramClient, seen: Seen) -> None:
    """A model that nobody has, and a file that is none."""
    try:
        await client.listen.asyncwebsocket.v("1").start(LiveOptions(model=UNKNOWN))
    except InvalidStatus as error:
        seen.fail(type(error).__name__, error)
    try:
        await client.listen.asyncrest.v("1").transcribe_file({"buffer": b"garbage"})
    except DeepgramApiError as error:
        seen.fail(f"{type(error).__name__} {error.status}", error)


async def main() -> None:
    """Say what was seen."""
    address, file = arguments()
    client, seen = client_of(address), Seen()
    await hear_live(client, file, seen)
    answer = await client.listen.asyncrest.v("1").transcribe_file({"buffer": file.read_bytes()})
    seen.files.append(answer.results.channels[0].alternatives[0].transcript)
    await refused(client, seen)
    seen.show()


if __name__ == "__main__":
    asyncio.run(main())
