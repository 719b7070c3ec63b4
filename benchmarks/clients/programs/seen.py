"""What a program of a client is given and what it prints, whichever client it is.

These programs run in environments that know nothing of Earshot.
"""

import asyncio
import json
import sys
import wave
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

PIECE_S = 0.1
"""Audio comes in pieces of so long, each when it would have been said."""
UNKNOWN = "no-such-model"


@dataclass
class Seen:
    """Texts as the client gave them to its user, and how it told of what went wrong."""

    partials: list[str] = field(default_factory=list)
    finals: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def hear(self, text: str, *, is_final: bool) -> None:
        """One result; those without a text are of pauses."""
        if text:
            (self.finals if is_final else self.partials).append(text)

    def fail(self, name: str, told: object = "") -> None:
        """The client's own exception or callback by name, and what it says of the reason."""
        reason = " ".join(str(told).split())
        self.errors.append(f"{name}: {reason}"[:400])

    def show(self) -> None:
        """One line of JSON, which is the last."""
        print(json.dumps(asdict(self)), flush=True)


def arguments() -> tuple[str, Path]:
    """`HOST:PORT` of the server, and a WAV file: 16 bits, 16 kHz, one channel."""
    return sys.argv[1], Path(sys.argv[2])


def samples(file: Path) -> bytes:
    """A file's own, without its header."""
    with wave.open(str(file)) as wav:
        return wav.readframes(wav.getnframes())


async def spoken(file: Path, rate: int = 16000) -> AsyncIterator[bytes]:
    """Its samples as a microphone would give them."""
    audio, size = samples(file), int(2 * rate * PIECE_S)
    for start in range(0, len(audio), size):
        yield audio[start : start + size]
        await asyncio.sleep(PIECE_S)
