"""Claim: one GPU carries that many streams, beside the same engine on the CPU of the same machine.

All streams begin at once with ``CLIP_S`` seconds of speech each and are decoded in live chunks with
all defaults, by one engine. What that takes by the clock, against the seconds of audio, is how many
live streams it could follow at most, sockets aside. Parts are shares of the time in steps.
"""

import argparse
import functools
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.peers.apart import apart
from benchmarks.report import SHARED, table, write_report
from benchmarks.server.batching import CLIP_S, PARTS, clips, run_all, shares_of
from benchmarks.server.default_engine import default_engine
from benchmarks.server.spoken_hour import Samples
from benchmarks.wfst.streams import NotRun
from earshot.service.bench.measurements import Percentiles
from earshot.streaming.assembly.devices import DeviceChoice
from earshot.streaming.engine.engine_stats import StepReport
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.stream_config import StreamConfig

DISTINCT_CLIPS = 32
LIMIT_S = 200.0
HEADER = (
    "device", "streams", "lanes a step", "step p50 / p95 ms", "times real time",
    "encoder", "search", "second pass", "telling", "GPU memory",
)  # fmt: skip


@dataclass(frozen=True)
class Load:
    """A device, how many streams begin at once, and how many of them share a step at most."""

    device: DeviceChoice
    streams: int
    max_batch: int


@dataclass(frozen=True)
class Carried:
    """What one load came to.

    real_time: seconds of audio a second. shares: of the time in steps, by part. texts: of the
    distinct clips. memory_gb: the most that torch held of the GPU's.
    """

    real_time: float
    lanes: float
    steps: Percentiles
    shares: dict[str, float]
    texts: list[str]
    memory_gb: float


def carry(load: Load, audio: list[Samples]) -> Carried:
    """Decode all streams to their end, twice: the first time pays for what happens but once."""
    steps: list[StepReport] = []
    config = EngineConfig(
        max_streams=load.streams, max_batch=load.max_batch, max_file_lanes=load.max_batch,
        max_backlog_s=2 * CLIP_S,
    )  # fmt: skip
    engine = default_engine(None, config, steps.append, load.device)
    spoken = [audio[index % len(audio)] for index in range(load.streams)]
    engine.start()
    run_all(engine, spoken[: load.max_batch], StreamConfig())
    steps.clear()
    began = time.perf_counter()
    texts = run_all(engine, spoken, StreamConfig())
    took_s = time.perf_counter() - began
    engine.stop(timeout_s=10)
    return Carried(
        real_time=load.streams * CLIP_S / took_s,
        lanes=statistics.fmean(step.lanes for step in steps),
        steps=Percentiles.of([step.duration_s for step in steps]),
        shares=shares_of(steps),
        texts=texts[: len(audio)],
        memory_gb=torch.cuda.max_memory_reserved() / 1e9 if load.device == "cuda" else 0.0,
    )


def row(load: Load, found: Carried | NotRun) -> list[str]:
    """One line of the table."""
    begin = [load.device, str(load.streams)]
    if isinstance(found, NotRun):
        return [*begin, str(found), *[""] * (len(HEADER) - 3)]
    step = f"{found.steps.p50_ms:.0f} / {found.steps.p95_ms:.0f}"
    return [
        *begin, f"{found.lanes:.0f}", step, f"{found.real_time:,.0f}",
        *(f"{100 * found.shares[part]:.0f} %" for part in PARTS),
        f"{found.memory_gb:.1f} GB" if found.memory_gb else "",
    ]  # fmt: skip


def differing(found: dict[Load, Carried | NotRun]) -> str:
    """How many texts differ from those of the first load, of all that were compared."""
    texts = [each.texts for each in found.values() if isinstance(each, Carried)]
    pairs = [pair for others in texts[1:] for pair in zip(texts[0], others, strict=False)]
    return f"{sum(one != other for one, other in pairs)} of {len(pairs)}"


def main() -> None:
    """Run it and write docs/benchmarks/gpu_streams.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speech", type=Path, default=SHARED / "speech")
    parser.add_argument("--cpu", type=int, nargs="*", default=[16], help="counts of streams")
    parser.add_argument("--cuda", type=int, nargs="*", default=[16, 128, 512, 1024])
    parser.add_argument("--max-batch", type=int, default=256)
    chosen = parser.parse_args()
    audio = clips(DISTINCT_CLIPS, chosen.speech)
    loads = [Load("cpu", count, min(count, chosen.max_batch)) for count in chosen.cpu]
    loads += [Load("cuda", count, min(count, chosen.max_batch)) for count in chosen.cuda]
    found: dict[Load, Carried | NotRun] = {}
    for load in loads:  # each in a process of its own: none finds what another left
        [found[load]] = apart([functools.partial(carry, load, audio)], LIMIT_S)
        print(*row(load, found[load]), sep=" | ", flush=True)
    body = f"""
{gpu_name()}. {CLIP_S:g} s of speech for every stream, {len(audio)} distinct clips, up to
{chosen.max_batch} lanes in a step; the bundled model with all defaults, one engine. "Times real
time" is how many seconds of audio are decoded in a second, sockets aside.

{table(HEADER, [row(load, each) for load, each in found.items()])}

Texts that differ from those of the first line: {differing(found)}.
"""
    print(body)
    print(write_report("gpu_streams", "Streams that one GPU carries", body.lstrip()))


def gpu_name() -> str:
    """The card, where there is one."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "No GPU"


if __name__ == "__main__":
    main()
