"""Claim: what the first paper's Table 4 asks. Waiting, rescoring and final latency by chunk.

For each chunk size one server and one client, which sends recordings in real time, each with a
`Finalize` behind it. L1: what a frame waits on average for its chunk and for the look-ahead, by the
paper's formula. L2: computing time of the second pass for an ending, by the server's metrics. L3:
from the last audio to the final, at the client. Sizes are encoder frames, of 40 ms.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.recognition.served_wer import DEV
from benchmarks.report import below_claim, table, write_report
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.service.bench.clips import Clip, load_clips
from earshot.service.bench.load import run_load, texts_alone
from earshot.service.bench.measurements import Measurements, Percentiles
from earshot.service.bench.target import Target, own_server
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.stream.chunking import Chunking
from earshot.streaming.u2.two_pass import stream_settings

SIZES = (32, 16, 8, 4)
SEED = 4


@dataclass(frozen=True)
class Rescoring:
    """Work of the second pass up to now."""

    endings: float
    seconds: float

    @classmethod
    def of(cls, target: Target) -> "Rescoring":
        """What a server's metrics say."""
        said = target.metrics()
        return cls(said["earshot_finals_total"], said["earshot_second_pass_seconds_total"])

    def ms_since(self, before: "Rescoring") -> float:
        """Milliseconds of each ending between both."""
        return 1000 * (self.seconds - before.seconds) / (self.endings - before.endings)


def waiting_ms(chunking: Chunking) -> float:
    """L1: half of a chunk, and the look-ahead (Yao 2021, section 3.2.3)."""
    frames = chunking.chunk_size / 2 * chunking.rate + chunking.right_context
    return frames * chunking.feature_ms


def bundled_chunking(chunk_frames: int) -> Chunking:
    """How the bundled model cuts streams."""
    config = EngineConfig(chunk_size=chunk_frames)
    return stream_settings(u2_of(load_model(bundled_model_dir())), config).chunking


def measure(chunk_frames: int, clips: Sequence[Clip], duration_s: float) -> list[str]:
    """One line of the table."""
    with own_server(["--chunk-size", str(chunk_frames)]) as target:
        alone = asyncio.run(texts_alone(target, clips, lambda _: None))
        before = Rescoring.of(target)
        run = asyncio.run(run_load(target, clips, alone, 1, duration_s, SEED))
        rescoring_ms = Rescoring.of(target).ms_since(before)
    waiting = waiting_ms(bundled_chunking(chunk_frames))
    return [str(chunk_frames), f"{waiting:.0f}", f"{rescoring_ms:.0f}", *told(run)]


def told(run: Measurements) -> list[str]:
    """Mean and percentiles of the final latency, and how many finals there were."""
    finals_s = [each.final_latency_s for each in run.heard]
    found = Percentiles.of(finals_s)
    mean_ms = 1000 * float(np.mean(finals_s))
    percentiles = f"{found.p50_ms:.0f} / {found.p95_ms:.0f} / {found.p99_ms:.0f}"
    return [f"{mean_ms:.0f}", percentiles, str(len(finals_s))]


def main() -> None:
    """Measure, and write docs/benchmarks/chunk_latency.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--duration", type=float, default=300.0)
    parser.add_argument("--audio", type=Path, default=DEV)
    options = parser.parse_args()
    clips = load_clips(options.audio, 40, SEED)
    lines = [measure(size, clips, options.duration) for size in options.sizes]
    header = ["chunk", "L1, ms", "L2, ms", "L3, mean ms", "L3, p50 / p95 / p99 ms", "finals"]
    about = below_claim(__doc__)
    print(write_report("chunk_latency", "Latency by chunk", f"{about}\n\n{table(header, lines)}"))


if __name__ == "__main__":
    main()
