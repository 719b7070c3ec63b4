"""Claim: streams that share a step cost less. The same engine, one lane per step against many.

One lane per step is how servers without batching work: a model call per stream and chunk. All arms
decode the same distinct clips with all defaults on one thread; the arms take turns, and the
spread over the rounds is reported. Where an arm spends its time comes from the engine's own clocks.
"""

import argparse
import functools
import queue
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soundfile

from benchmarks.report import SHARED, table, write_report
from benchmarks.server.default_engine import default_engine
from benchmarks.server.spoken_hour import RATE_HZ, Samples, librispeech
from earshot.service.core.engine_port import EngineHost
from earshot.streaming.engine.engine_stats import StepReport
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Closed, Event, Failed, Final
from earshot.streaming.stream_config import StreamConfig, StreamPriority

CLIP_S = 20.0
PARTS = ("encoder_s", "search_s", "second_pass_s", "emit_s")


@dataclass
class Cost:
    """What one run took.

    total: CPU seconds per second of audio. shares: of the time in steps. lanes: mean per step.
    """

    total: float
    shares: dict[str, float]
    lanes: float


def clips(count: int, speech: Path = SHARED / "speech") -> list[Samples]:
    """Distinct pieces of real speech, ``CLIP_S`` seconds each."""
    wanted, rest = round(CLIP_S * RATE_HZ), np.empty(0, np.float32)
    pieces: list[Samples] = []
    for name, _ in librispeech(speech / "dev.tsv"):
        samples, _ = soundfile.read(speech / name, dtype="float32")
        rest = np.concatenate([rest, samples])
        while len(rest) >= wanted and len(pieces) < count:
            pieces.append(np.ascontiguousarray(rest[:wanted]))
            rest = rest[wanted:]
        if len(pieces) == count:
            return pieces
    raise SystemExit(f"there is no audio for {count} clips of {CLIP_S:g} s")


def run(model: Path | None, audio: list[Samples], max_batch: int) -> Cost:
    """Decode all clips at once and count what it took."""
    steps: list[StepReport] = []
    config = EngineConfig(
        max_streams=len(audio), max_batch=max_batch, max_file_lanes=max_batch,
        max_backlog_s=2 * CLIP_S, threads=1,
    )  # fmt: skip
    engine = default_engine(model, config, steps.append)
    engine.start()
    run_all(engine, audio, StreamConfig())  # the first run pays for torch's own warm-up
    steps.clear()
    began = time.process_time()
    run_all(engine, audio, StreamConfig())
    cpu_s, audio_s = time.process_time() - began, len(audio) * CLIP_S
    engine.stop(timeout_s=10)
    lanes = statistics.fmean(step.lanes for step in steps)
    return Cost(cpu_s / audio_s, shares_of(steps), lanes)


def shares_of(steps: Sequence[StepReport]) -> dict[str, float]:
    """Each part's share of the time in steps."""
    in_steps_s = sum(step.duration_s for step in steps)
    return {part: sum(getattr(step, part) for step in steps) / in_steps_s for part in PARTS}


def run_all(engine: EngineHost, audio: list[Samples], config: StreamConfig) -> list[str]:
    """One file stream per clip, to the end of all of them; return their texts.

    They are heard in the engine's chunks, as live streams are, unless the config asks for others.
    """
    if config.chunk_ms is None:
        config = replace(config, chunk_ms=engine.model.chunk_ms)
    events: queue.Queue[tuple[int, Event]] = queue.Queue()
    texts = [""] * len(audio)
    for index, samples in enumerate(audio):
        sink = functools.partial(lambda index, event: events.put((index, event)), index)
        stream = engine.open(config, sink, StreamPriority.FILE)
        stream.push(samples)
        stream.finish()
    open_streams = len(audio)
    while open_streams:
        index, event = events.get()
        if isinstance(event, Failed):
            raise event.error
        if isinstance(event, Final) and event.alternatives:
            texts[index] = f"{texts[index]} {event.alternatives[0].text}".strip()
        open_streams -= isinstance(event, Closed)
    return texts


def row(name: str, costs: list[Cost]) -> list[str]:
    """One line of the table: medians, and the spread of the total."""
    cpu = [1000 * cost.total for cost in costs]
    parts = [
        f"{100 * statistics.median(cost.shares[part] for cost in costs):.0f} %" for part in PARTS
    ]
    lanes = f"{statistics.median(cost.lanes for cost in costs):.1f}"
    return [name, lanes, f"{statistics.median(cpu):.1f}", f"{min(cpu):.1f}-{max(cpu):.1f}", *parts]


def main() -> None:
    """Run it and write docs/benchmarks/batching.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    audio, batches = clips(arguments.streams), (1, 4, arguments.streams)
    costs: dict[int, list[Cost]] = {batch: [] for batch in batches}
    for _ in range(arguments.rounds):
        for batch in batches:
            costs[batch].append(run(arguments.model, audio, batch))
    header = ["arm", "lanes", "CPU", "min-max", "encoder", "search", "second pass", "telling"]
    rows = [row(f"max_batch {batch}", costs[batch]) for batch in batches]
    ratio = statistics.median(c.total for c in costs[1]) / statistics.median(
        c.total for c in costs[arguments.streams]
    )
    body = f"""
{arguments.streams} streams of {CLIP_S:g} s of distinct LibriSpeech each, decoded at once with all
defaults on one thread, {arguments.rounds} rounds, arms in turns. CPU is in milliseconds per second
of audio, the parts are shares of the time in steps, `lanes` is the mean number of streams in a
step.
"max_batch 1" is the same engine with a model call per stream and chunk: our own stand-in for a
server that does not batch.

{table(header, rows)}

One stream at a time costs {ratio:.2f} times what {arguments.streams} in a batch cost.
"""
    print(body)
    print(write_report("batching", "What sharing a step saves", body.lstrip()))


if __name__ == "__main__":
    main()
