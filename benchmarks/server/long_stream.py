"""Claim: one stream may last for hours: memory grows by megabytes, words are as right as in pieces.

An hour of real speech goes through one stream. Then every segment of it is decoded as a stream of
its own, and the texts are compared one by one. And another hour goes through without a pause, where
segments are cut at gaps between words: what is said twice in a row is counted beside what was read.
"""

import argparse
import queue
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import jiwer
import numpy as np

from benchmarks.report import SHARED, resident_mb, table, write_report
from benchmarks.server.default_engine import default_engine
from benchmarks.server.spoken_hour import PAUSES_S, Samples, SpokenHour, lay_out
from benchmarks.wfst.word_errors import repeats
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


@dataclass(frozen=True)
class LongRun:
    """What came of an hour: finals, and samples of (seconds decoded, resident MB)."""

    hour: SpokenHour
    finals: Sequence[Final]
    memory: Sequence[tuple[float, float]]
    wall_s: float

    @property
    def texts(self) -> list[str]:
        """Of the finals."""
        return [text_of(final) for final in self.finals]

    @property
    def speed(self) -> float:
        """Times real time."""
        return self.hour.duration_s / self.wall_s

    def ended_by(self, cause: str) -> int:
        """How many finals."""
        return sum(final.cause == cause for final in self.finals)

    def error(self, texts: Sequence[str]) -> float:
        """Percent of the words that are wrong."""
        return 100.0 * float(jiwer.wer(self.hour.text, " ".join(texts).lower()))


def long_run(engine: Engine, hour: SpokenHour) -> LongRun:
    """Decode the whole hour."""
    finals: list[Final] = []
    memory: list[tuple[float, float]] = []
    began_s = time.perf_counter()
    for event in decode(engine, hour.blocks(BLOCK_S), StreamConfig()):
        if isinstance(event, Final):
            finals.append(event)
            done_s = event.start_s + event.duration_s
            if done_s >= len(memory) * SAMPLE_EVERY_S:
                memory.append((done_s, resident_mb()))
    return LongRun(hour, finals, memory, time.perf_counter() - began_s)


def piecewise(engine: Engine, run: LongRun) -> list[str]:
    """Decode the audio of each final as a stream of its own."""
    texts = []
    for final in run.finals:
        piece = run.hour.piece(final.start_s, final.duration_s)
        blocks = np.array_split(piece, round(final.duration_s / BLOCK_S) + 1)
        events = decode(engine, blocks, StreamConfig(endpoint=NEVER))
        texts.append(" ".join(text_of(e) for e in events if isinstance(e, Final)).strip())
    return texts


def memory_table(memory: Sequence[tuple[float, float]]) -> str:
    """Resident memory against time, as a table with a bar for the eye."""
    rows = [[f"{done_s / 60:.0f}", f"{mb:.0f}", "▇" * round(mb / 50)] for done_s, mb in memory]
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
        runs = {}
        for pauses_s in (PAUSES_S, ()):
            path = Path(folder) / f"{len(pauses_s)}.wav"
            hour = lay_out(SHARED / "speech", path, arguments.seconds, arguments.seed, pauses_s)
            runs[pauses_s] = long_run(engine, hour)
        pieces = piecewise(engine, runs[PAUSES_S])
    engine.stop(timeout_s=10)
    print(body := with_pauses(runs[PAUSES_S], pieces) + without_pauses(runs[()]))
    print(write_report("long_stream", "One hour of speech through one stream", body))


def with_pauses(run: LongRun, pieces: Sequence[str]) -> str:
    """What came of the hour with pauses, and of its pieces."""
    memory = run.memory
    growth_mb = memory[-1][1] - memory[1][1] if len(memory) > 1 else 0.0
    same = sum(ours == alone for ours, alone in zip(run.texts, pieces, strict=True))
    return f"""\
{run.hour.duration_s / 60:.1f} minutes of LibriSpeech utterances in random order, with pauses of
0.15 to 2.5 s between them, through one stream, as fast as it is taken
({run.speed:.0f} times real time).

- {len(run.finals)} finals: {run.ended_by("endpoint")} ended at a pause,
  {run.ended_by("max_utterance")} cut at a gap between words after 20 s.
- Memory: {growth_mb:+.1f} MB between the second sample and the last.
- {same} of {len(pieces)} texts equal those of their audio alone,
  letter for letter. Alone a piece begins and ends in digital silence, in the stream it does not;
  whether that is why the others differ has not been tested.
- WER {run.error(run.texts):.2f} % as one stream, {run.error(pieces):.2f} % as separate pieces.
  Most of these utterances are the bundled model's training data: this compares two ways to decode
  them, and is no error rate of the model.

{memory_table(memory)}
"""


def without_pauses(run: LongRun) -> str:
    """What came of the hour without."""
    told, read = repeats(" ".join(run.texts).lower()), repeats(run.hour.text)
    invented = [*(Counter(told) - Counter(read)).elements()]
    return f"""
## Without a pause

{run.hour.duration_s / 60:.1f} minutes of such utterances without the silence around them, one
after the other: {len(run.finals)} finals, {run.ended_by("max_utterance")} of them cut at a gap
between words.

- {len(told)} times a word or a phrase of up to twelve follows itself, in what was read {len(read)}
  times. Not in what was read: {", ".join(invented) or "none"}.
- WER {run.error(run.texts):.2f} %.
"""


if __name__ == "__main__":
    main()
