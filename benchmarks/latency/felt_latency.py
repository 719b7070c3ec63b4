"""Claim: speakers see a word half a second after its end, and their final after the pause.

Each utterance has a connection of its own and is sent in real time, cut where its speech ends, with
some seconds of faint noise behind it. Nobody sends a Finalize: the server has to find the pause.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import soundfile
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.report import SHARED, table, write_report
from benchmarks.server.open_load import until
from benchmarks.server.spoken_hour import NOISE_RMS, RATE_HZ, Samples
from earshot.service.bench.caller import CLOSE_STREAM, QUERY
from earshot.service.bench.measurements import Percentiles
from earshot.service.bench.target import own_server

CORPORA = ("librispeech", "coffee")
LONGEST_S = 12.0
NOISE_S = 3.0
PACKET = RATE_HZ // 20  # samples: 50 ms, as the page sends them
FRAME = RATE_HZ // 50
SPEECH_SHARE = 0.05  # of the loudest frame's level
APART_S = 0.3  # that a word's end may lie in a partial from where it lies in the final
ENDPOINTING = {
    "defaults": "",
    "`endpointing=25`, as LiveKit asks": "&endpointing=25",
    "`eot_threshold=0.6`": "&eot_threshold=0.6",
    "`eot_threshold=false`": "&eot_threshold=false",
}


@dataclass
class Heard:
    """Latencies of some utterances in seconds; `pieces`: finals with words, by utterance."""

    finals_s: list[float] = field(default_factory=list)
    words_s: list[float] = field(default_factory=list)
    pieces: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Told:
    """A result as it came: when, on the clock of the stream, with its words and their ends."""

    at_s: float
    is_final: bool
    words: tuple[str, ...]
    ends_s: tuple[float, ...]

    def has(self, word: str, end_s: float) -> bool:
        """Whether it has a word about where that ends."""
        pairs = zip(self.words, self.ends_s, strict=True)
        return any(each == word and abs(at_s - end_s) <= APART_S for each, at_s in pairs)


def utterances(count: int) -> list[Samples]:
    """Development recordings of readers and of orders in turn, each up to where its speech ends."""
    rows = [
        line.split("\t")
        for line in (SHARED / "speech" / "dev.tsv").read_text(encoding="utf-8").splitlines()[1:]
    ]
    short = [row for row in rows if float(row[3]) <= LONGEST_S]
    found = [[row[0] for row in short if row[1] == corpus] for corpus in CORPORA]
    names = [name for pair in zip(*found, strict=False) for name in pair][:count]
    return [until_end_of_speech(_read(name)) for name in names]


def until_end_of_speech(samples: Samples) -> Samples:
    """Cut (N,) behind the last frame of 20 ms that is not much quieter than the loudest."""
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    levels = np.sqrt((frames**2).mean(axis=1))
    last = int(np.flatnonzero(levels >= SPEECH_SHARE * levels.max())[-1])
    return samples[: (last + 1) * FRAME]


def latencies_of(told: Sequence[Told], end_of_speech_s: float, into: Heard) -> None:
    """Note when words were first seen as they stayed, and when the last final came."""
    segment: list[Told] = []
    finals = [each for each in told if each.is_final and each.words]
    for each in told:
        segment.append(each)
        if each.is_final:
            into.words_s += _first_sights(segment)
            segment = []
    if finals:
        into.finals_s.append(finals[-1].at_s - end_of_speech_s)
        into.pieces.append(len(finals))


def _first_sights(segment: Sequence[Told]) -> list[float]:
    final = segment[-1]
    return [
        next(each.at_s for each in segment if each.has(word, end_s)) - end_s
        for word, end_s in zip(final.words, final.ends_s, strict=True)
    ]


async def listen_to(url: str, samples: Samples, noise: Samples) -> list[Told]:
    """Say an utterance to the server, and the noise behind it; everything that came back."""
    told: list[Told] = []
    async with connect(url, proxy=None) as socket:
        began = time.monotonic()
        await asyncio.gather(
            _say(socket, np.concatenate([samples, noise]), began), _hear(socket, began, told)
        )
    return told


async def _say(socket: ClientConnection, samples: Samples, began: float) -> None:
    pcm = np.round(samples * 32767).astype("<i2")
    for at in range(0, len(pcm), PACKET):
        packet = pcm[at : at + PACKET]
        # A microphone hands a packet over when it is full, not when it begins.
        await until(began + (at + len(packet)) / RATE_HZ)
        await socket.send(packet.tobytes())
    await socket.send(CLOSE_STREAM)


async def _hear(socket: ClientConnection, began: float, told: list[Told]) -> None:
    async for data in socket:
        message = json.loads(data)
        if message["type"] == "Results":
            told.append(_told(message, time.monotonic() - began))


def _told(message: dict[str, Any], at_s: float) -> Told:
    words = message["channel"]["alternatives"][0]["words"]
    names = tuple(word["word"] for word in words)
    return Told(at_s, message["is_final"], names, tuple(word["end"] for word in words))


async def run(url: str, query: str, clips: Sequence[Samples]) -> Heard:
    """Say all of them, one after the other."""
    heard, rng = Heard(), np.random.default_rng(0)
    for samples in clips:
        noise = rng.normal(0.0, NOISE_RMS, round(NOISE_S * RATE_HZ)).astype(np.float32)
        told = await listen_to(f"{url}/v1/listen?{QUERY}{query}", samples, noise)
        latencies_of(told, len(samples) / RATE_HZ, heard)
    return heard


def _read(name: str) -> Samples:
    samples, _ = soundfile.read(SHARED / "speech" / name, dtype="float32")
    return np.asarray(samples, dtype=np.float32)


def row(name: str, heard: Heard) -> list[str]:
    """One line of the table."""
    finals, words = Percentiles.of(heard.finals_s), Percentiles.of(heard.words_s)
    return [
        name,
        f"{finals.p50_ms / 1000:.2f} / {finals.p95_ms / 1000:.2f}",
        f"{words.p50_ms / 1000:.2f} / {words.p95_ms / 1000:.2f}",
        f"{sum(pieces > 1 for pieces in heard.pieces)} of {len(heard.pieces)}",
    ]


def main() -> None:
    """Run it and write docs/benchmarks/felt_latency.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--utterances", type=int, default=20)
    arguments = parser.parse_args()
    clips = utterances(arguments.utterances)
    rows = []
    with own_server([]) as target:
        asyncio.run(run(target.ws_url, "", clips[:1]))  # the first pays for what is loaded late
        for name, query in ENDPOINTING.items():
            rows.append(row(name, asyncio.run(run(target.ws_url, query, clips))))
    header = [
        "", "end of speech to final p50 / p95 s", "a word's end to its first sight p50 / p95 s",
        "utterances cut into pieces",
    ]  # fmt: skip
    body = f"""
{len(clips)} development recordings of readers and of coffee orders, of at most {LONGEST_S:g} s,
one after the other, in real time, in packets of 50 ms. Each is cut where its speech ends (the last
20 ms at {100 * SPEECH_SHARE:g} % of the loudest level) and followed by {NOISE_S:g} s of noise
80 dB below full scale. Server flags: none. No `Finalize`: the final waits for the pause.

{table(header, rows)}

A word is seen first where a result has it end within {1000 * APART_S:.0f} ms of where the
final has it.
"""
    print(body)
    print(write_report("felt_latency", "Latency as it is felt", body.lstrip()))


if __name__ == "__main__":
    main()
