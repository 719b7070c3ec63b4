"""Claim: streams of NeMo's kinds share slots, are cut by endpoints and last for hours unharmed.

Run with ``PYTHONPATH=tests/streaming:.``, where the small random models lie. Of each kind of model:
10,000 streams come and go over a few slots and say what they say alone; ten minutes with fifty
endpoints and more say what they say without any; an hour's file takes, in a process of its own, at
most a tenth more memory than a minute's. Exit code 1 where one does not hold.
"""

from __future__ import annotations

import argparse
import queue
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
from random_nemo import KINDS, babble, random_nemo

from benchmarks.report import processor_name, table
from benchmarks.server.long_stream import until_room
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.stream import Stream
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import BacklogFull
from earshot.streaming.events import Closed, Event, Failed, Final
from earshot.streaming.samples import Samples
from earshot.streaming.stream_config import EndpointConfig, StreamConfig, StreamPriority

CHECKED = ("chunks, tdt and ctc", "windows, rnnt and ctc")
SLOTS = 12
CLIPS = [babble(seconds, seed) for seed, seconds in enumerate((0.02, 0.2, 0.4, 0.7, 1.0, 1.3), 3)]
QUICK = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)
LONGEST_MS = 10**6
NEVER = EndpointConfig(silence_ms=None, no_speech_ms=LONGEST_MS, max_utterance_ms=LONGEST_MS)
GREEDY = ("transducer_greedy_search", "ctc_greedy_search")
MOST_MEMORY = 1.1
Events = queue.Queue[Event]


@dataclass(frozen=True)
class Row:
    """One check: what was found, and whether the claim holds."""

    kind: str
    check: str
    found: str
    holds: bool

    def cells(self) -> list[str]:
        """Of the table."""
        return [self.kind, self.check, self.found, "yes" if self.holds else "NO"]


def started(kind: str, max_utterance_ms: int = 20_000) -> Engine:
    """An engine for a small model."""
    config = EngineConfig(max_streams=SLOTS, threads=1, max_utterance_ms=max_utterance_ms)
    engine = Engine(build_recognizer(random_nemo(kind), config), config)
    engine.start()
    return engine


def heard(engine: Engine, audio: Iterable[Samples], config: StreamConfig) -> Iterator[Final]:
    """The finals of a file, pushed as fast as it is taken."""
    events: Events = queue.Queue()
    stream = engine.open(config, events.put, StreamPriority.FILE)
    for block in audio:
        while not pushed(stream, block):
            yield from finals(until_room(events))
    stream.finish()
    yield from finals(to_the_end(events))


def pushed(stream: Stream, block: Samples) -> bool:
    """Whether there was room."""
    try:
        stream.push(block)
    except BacklogFull:
        return False
    return True


def to_the_end(events: Events) -> Iterator[Event]:
    """The events that are still to come. Raises what the stream failed of."""
    while not isinstance(event := events.get(), Closed):
        if isinstance(event, Failed):
            raise event.error
        yield event


def finals(events: Iterable[Event]) -> Iterator[Final]:
    """Of all events the finals."""
    return (event for event in events if isinstance(event, Final))


def letters(said: Iterable[Final]) -> str:
    """All texts without spaces: no space stands between two segments."""
    return "".join("".join(final.alternatives[0].text.split()) for final in said)


@dataclass(frozen=True)
class Visit:
    """A stream of one clip, that finishes or is cancelled."""

    clip: int
    config: StreamConfig
    is_cancelled: bool

    @property
    def key(self) -> str:
        """The name of what it hears."""
        return f"{self.clip} {self.config.mode} {self.config.chunk_ms}"

    def asks(self, stream: Stream) -> Iterator[None]:
        """Ask the stream for one thing after the other."""
        for piece in np.array_split(CLIPS[self.clip], len(CLIPS[self.clip]) // 5000 + 1):
            yield stream.push(piece)
        stream.cancel() if self.is_cancelled else stream.finish()


def drawn(chance: Random, engine: Engine) -> Visit:
    """A visit of any kind."""
    config = StreamConfig(
        chance.choice(engine.model.modes),
        endpoint=QUICK,
        chunk_ms=chance.choice(engine.model.chunks_ms[1:]),
        interim_results=chance.random() < 0.2,
    )
    return Visit(chance.randrange(len(CLIPS)), config, chance.random() < 0.25)


def visits(engine: Engine, count: int, seed: int) -> Iterator[tuple[Visit, str]]:
    """What each of so many visits has said, in the order in which they end."""
    chance, going, begun = Random(seed), [], 0
    while going or begun < count:
        if begun < count and len(going) < SLOTS and chance.random() < 0.5:
            visit, events = drawn(chance, engine), queue.Queue[Event]()
            stream = engine.open(visit.config, events.put)
            going.append((visit, visit.asks(stream), events))
            begun += 1
        if going:
            asked = visit, asks, events = chance.choice(going)
            if next(asks, going) is going:
                going.remove(asked)
                yield visit, letters(finals(to_the_end(events)))


def check_slots(kind: str, count: int, seed: int) -> Row:
    """Streams that come and go say what they say alone."""
    engine, alone = started(kind), dict[str, str]()
    wrong = cancelled = 0
    began_s = time.perf_counter()
    said = list(visits(engine, count, seed))
    took_s = time.perf_counter() - began_s
    for visit, text in said:
        if visit.key not in alone:
            alone[visit.key] = letters(heard(engine, [CLIPS[visit.clip]], visit.config))
        cancelled += visit.is_cancelled
        whole = alone[visit.key]
        wrong += not (whole.startswith(text) if visit.is_cancelled else text == whole)
    engine.stop(10)
    found = (
        f"{len(said)} streams over {SLOTS} slots in {took_s:.0f} s, {cancelled} of them cancelled, "
        f"{len(set(alone.values()))} different texts: {wrong} are wrong"
    )
    return Row(kind, "slots", found, wrong == 0 and len(said) == count)


def check_endpoints(kind: str, mode: str, seconds: float) -> Row:
    """A long stream says with endpoints what it says without."""
    engine, audio = started(kind, LONGEST_MS), babble(seconds, 2)
    pieces = np.array_split(audio, round(seconds))
    whole, divided = (
        list(heard(engine, pieces, StreamConfig(mode, endpoint=each, interim_results=False)))
        for each in (NEVER, QUICK)
    )
    engine.stop(10)
    endpoints = sum(final.cause == "endpoint" for final in divided)
    same = letters(whole) == letters(divided)
    found = (
        f"{seconds / 60:g} min, {len(letters(whole))} letters in {len(whole)} final and "
        f"{len(divided)}, {endpoints} of them by endpoints: {'the same' if same else 'others'}"
    )
    return Row(kind, mode, found, same and endpoints >= 50 and len(whole) == 1)


def check_memory(kind: str, seconds: float) -> Row:
    """A long file takes hardly more memory than a minute."""
    short_mb, long_mb = peak_of_another_mb(kind, 60), peak_of_another_mb(kind, seconds)
    found = f"{short_mb:.0f} MB at a minute's, {long_mb:.0f} MB at {seconds / 60:g} minutes' peak"
    return Row(
        kind, "memory", f"{found}: {long_mb / short_mb:.3f}", long_mb <= MOST_MEMORY * short_mb
    )


def peak_of_another_mb(kind: str, seconds: float) -> float:
    """The peak of a fresh process that hears so much."""
    command = [sys.executable, "-m", "benchmarks.transducer.streams_check", "--peak"]
    done = subprocess.run(
        [*command, str(seconds), "--kinds", kind], check=True, stdout=subprocess.PIPE, text=True
    )
    return float(done.stdout)


def peak_mb(kind: str, seconds: float) -> float:
    """The most memory that this process has while it hears a file of so many seconds."""
    engine, minute = started(kind), np.array_split(babble(60.0, 2), 60)
    audio = (minute[second % 60] for second in range(round(seconds)))
    Path("/proc/self/clear_refs").write_text("5")  # the peak of what made the model is no matter
    for _ in heard(engine, audio, StreamConfig(endpoint=QUICK, interim_results=False)):
        pass
    engine.stop(10)
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def rows(arguments: argparse.Namespace) -> Iterator[Row]:
    """All checks of all kinds."""
    for kind in arguments.kinds:
        modes = [mode for mode in GREEDY if mode in described_modes(kind)]
        yield from (check_endpoints(kind, mode, arguments.seconds) for mode in modes)
        yield check_memory(kind, arguments.file_seconds)
        yield check_slots(kind, arguments.streams, arguments.seed)


def described_modes(kind: str) -> tuple[str, ...]:
    """The modes of a kind of model."""
    return build_recognizer(random_nemo(kind), EngineConfig(max_streams=1)).model.modes


def main() -> int:
    """Check, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", default=CHECKED, choices=KINDS, metavar="KIND")
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--file-seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peak", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.peak is not None:
        print(peak_mb(arguments.kinds[0], arguments.peak))
        return 0
    found = []
    for row in rows(arguments):
        print(" | ".join(row.cells()), flush=True)
        found.append(row)
    print(f"\n{processor_name()}, torch {torch.__version__}\n")
    print(table(["model", "check", "found", "holds"], [row.cells() for row in found]))
    return 0 if all(row.holds for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
