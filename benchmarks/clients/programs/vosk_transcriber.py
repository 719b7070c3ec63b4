"""Vosk's own transcriber as a client of a server, and what it raises where nobody answers it."""

import asyncio
import logging
from argparse import Namespace
from pathlib import Path

import vosk.transcriber.transcriber as own
from seen import Seen, arguments
from websockets.exceptions import InvalidStatus


class WithoutModel(own.Transcriber):
    """The transcriber loads a model of Vosk's even where a server has one; all else is its own."""

    def __init__(self, args: Namespace) -> None:
        self.args = args


class Told(logging.Handler):
    """What the transcriber logs: each answer of the server, as a dictionary."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self.seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        """Hear an answer."""
        if isinstance(record.msg, dict):
            self.seen.hear(record.msg.get("partial", ""), is_final=False)
            self.seen.hear(record.msg.get("text", ""), is_final=True)


async def send(server: str, file: Path) -> None:
    """A file through the transcriber's own function, decoded in real time: it reads and sends."""
    decoding = await asyncio.create_subprocess_exec(
        *("ffmpeg", "-nostdin", "-loglevel", "quiet", "-re", "-i", str(file)),
        *("-ar", "16000", "-ac", "1", "-f", "s16le", "-"),
        stdout=asyncio.subprocess.PIPE,
    )
    await WithoutModel(Namespace(server=server)).recognize_stream_server(decoding)


async def main() -> None:
    """Say what was seen."""
    address, file = arguments()
    seen = Seen()
    logging.getLogger().setLevel(logging.INFO)
    logging.getLogger().addHandler(Told(seen))
    await send(f"ws://{address}/", file)
    try:
        await send(f"ws://{address}/nowhere", file)
    except InvalidStatus as error:
        seen.fail(type(error).__name__, error)
    seen.show()


if __name__ == "__main__":
    asyncio.run(main())
