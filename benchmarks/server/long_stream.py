"""Claim: one stream may last for hours: memory grows by megabytes, words are as right as in pieces.

An hour of real speech goes through one stream. Then every segment of it is decoded as a stream of
its own, and the texts are compared one by one.
"""

import argparse
import queue
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import jiwer
import numpy as np

from benchmarks.report import SHARED, resident_mb, table, write_report
from benchmarks.server.default_engine import default_engine
from benchmarks.server.spoken_hour import Samples, SpokenHour, lay_out
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import BacklogFull
from earshot.streaming.events import Closed, Event, Failed, Final, RoomAvailable
from earshot.streaming.stream_config import EndpointConfig, StreamConfig, StreamPriority

BLOCK_S = 1.0
SAMPLE_EVERY_S = 300.0
NEVER = EndpointConfig(silence_ms=None, no_speech_ms=600_000, max_utterance_ms=600_000)


def decode(engine: Engine, audio: Iterable[Samples], config: StreamConfig) -> Iterator[Event]:
    """Push audio through one stream as fast as it is taken; yield its events as they come."""
    config = replace(config, chunk_ms=engine.model.chunk_ms)  # as a live one
    events: queue.Queue[Event] = queue.Queue()
    stream = engine.open(config, events.put, StreamPriority.FILE)
    for block in audio:
        while True:
            try:
                stream.push(block)
                break
            except BacklogFull:
                yield from until_room(events)
    stream.finish()
    while not isinstance(event := events.get(), Closed | Failed):
        yield event
    if isinstance(event, Failed):
        raise event.error


def until_room(events: "queue.Queue[Event]") -> Iterator[Event]:
    """Yield events up to the one that says there is room in the backlog again."""
    while not isinstance(event := events.get(), RoomAvailable):
        if isinstance(event, Failed):
            raise event.error
        yield event


def text_of(final: Final) -> str:
    """The best alternative's text."""
    return final.alternatives[0].text if final.alternatives else ""


def long_run(engine: Engine, hour: SpokenHour) -> tuple[list[Final], list[tuple[float, float]]]:
    """Decode the whole hour; return its finals and (seconds decoded, resident MB) samples."""
    finals: list[Final] = []
    memory: list[tuple[float, float]] = []
    for event in decode(engine, hour.blocks(BLOCK_S), StreamConfig()):
        if isinstance(event, Final):
            finals.append(event)
            done_s = event.start_s + event.duration_s
            if done_s >= len(memory) * SAMPLE_EVERY_S:
                memory.append((done_s, resident_mb()))
    return finals, memory


def piecewise(engine: Engine, hour: SpokenHour, finals: list[Final]) -> list[str]:
    """Decode the audio of each final as a stream of its own."""
    texts = []
    for final in finals:
        piece = hour.piece(final.start_s, final.duration_s)
        blocks = np.array_split(piece, round(final.duration_s / BLOCK_S) + 1)
        events = decode(engine, blocks, StreamConfig(endpoint=NEVER))
        texts.append(" ".join(text_of(e) for e in events if isinstance(e, Final)).strip())
    return texts


def memory_table(memory: list[tuple[float, float]]) -> str:
    """Resident memory against time, as a table with a bar for the eye."""
    rows = [[f"{done_s / 60:.0f}", f"{mb:.0f}", "▇" * round(mb / 25)] for done_s, mb in memory]
    return table(["minute", "resident MB", ""], rows)


def main() -> None:
    """Run it and write docs/benchmarks/long_stream.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--seed", type=int, default=2)
    arguments = parser.parse_args()
    engine = default_engine(arguments.model, EngineConfig(max_streams=4))
    engine.start()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hour.wav"
        hour = lay_out(SHARED / "speech", path, arguments.seconds, arguments.seed)
        began_s = time.perf_counter()
        finals, memory = long_run(engine, hour)
        wall_s = time.perf_counter() - began_s
        pieces = piecewise(engine, hour, finals)
    engine.stop(timeout_s=10)
    report(hour, finals, memory, pieces, wall_s)


def report(
    hour: SpokenHour,
    finals: list[Final],
    memory: list[tuple[float, float]],
    pieces: list[str],
    wall_s: float,
) -> None:
    """Say what came out."""
    texts = [text_of(final) for final in finals]
    differing = [(a, b) for a, b in zip(texts, pieces, strict=True) if a != b]
    error = jiwer.wer(hour.text, " ".join(texts).lower())
    pieces_error = jiwer.wer(hour.text, " ".join(pieces).lower())
    causes = {
        cause: sum(f.cause == cause for f in finals) for cause in ("endpoint", "max_utterance")
    }
    growth_mb = memory[-1][1] - memory[1][1] if len(memory) > 1 else 0.0
    body = f"""
{hour.duration_s / 60:.1f} minutes of LibriSpeech utterances in random order, with pauses of 0.15 to
2.5 s between them, through one stream, as fast as it is taken
({hour.duration_s / wall_s:.0f} times real time).

- {len(finals)} finals: {causes["endpoint"]} ended at a pause, {causes["max_utterance"]} cut at
  a gap between words after 20 s.
- Memory: {growth_mb:+.1f} MB between the second sample and the last.
- {len(texts) - len(differing)} of {len(texts)} texts equal those of their audio alone,
  letter for letter. Alone a piece begins and ends in digital silence, in the stream it does not;
  whether that is why the others differ has not been tested.
- WER {100 * error:.2f} % as one stream, {100 * pieces_error:.2f} % as separate pieces. Most of
  these utterances are the bundled model's training data: this compares two ways to decode them, and
  is no error rate of the model.

{memory_table(memory)}
"""
    print(body)
    for ours, alone in differing:
        print(f"one stream: {ours}\nalone:      {alone}\n")
    print(write_report("long_stream", "One hour of speech through one stream", body.lstrip()))


if __name__ == "__main__":
    main()
