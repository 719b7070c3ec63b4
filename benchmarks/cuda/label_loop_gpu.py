"""Claim: on a GPU label looping takes what this says, beside NeMo's with and without CUDA graphs.

    python -m benchmarks.cuda.label_loop_gpu [--nemo build/nemo] [--write]

The decoder alone, of 114 million's shape, in float32, on the same frames: first utterances in the
shape of Galvez 2024, table 1, then one chunk of each of many live streams. Random weights that
find labels as often as trained ones do. Needs a GPU and the CUDA half.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import torch

from benchmarks.report import REPOSITORY, table, write_report
from benchmarks.transducer.decoding import Batch, Decode
from benchmarks.transducer.native_label_looping import decoding_by, native_label_looping
from benchmarks.transducer.nemo_label_looping import nemo_label_looping
from benchmarks.transducer.paper_tables import KINDS, SHAPES
from benchmarks.transducer.speaking_heads import SEED, random_batch, speaking_head
from benchmarks.transducer.timed_arms import Arm, Timed, arms_that_run, measure
from earshot.decoder_kernels.transducer.device_loop import DeviceLabelLoop
from earshot.decoder_kernels.transducer.device_loop_config import (
    DeviceLoopConfig,
    LoopMode,
    LoopOrder,
)
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.transducer.native_loop import loop_weights_of

RATE_HZ, SHAPE = 12.5, SHAPES["L"]
NEMO, WITH_GRAPHS = "NeMo 3.0.0, launches", "NeMo 3.0.0, CUDA graphs"
CHUNK_FRAMES = (1, 14)
"""Of 80 ms and of 1.12 s."""
SETTINGS = tuple((mode, order) for mode in LoopMode for order in LoopOrder)


class TimedLoop(DeviceLabelLoop):
    """A loop that notes how long its walks take, with their launches."""

    device_s = 0.0

    def run(self, rung: int) -> None:
        """One walk, from an idle device to an idle device."""
        torch.cuda.synchronize()
        began = time.perf_counter()
        super().run(rung)
        torch.cuda.synchronize()
        self.device_s += time.perf_counter() - began


@dataclass(frozen=True)
class ChunkTime:
    """A turn that took the median of some: by the clock, and of it the walk."""

    host_s: float
    device_s: float
    labels: int

    def __str__(self) -> str:
        return f"{1000 * self.host_s:.2f} / {1000 * self.device_s:.2f}"


def on_cpu(head: Transducer) -> Decode:
    """The loop of the CPU, which the frames are copied to."""
    decode = native_label_looping(head)
    return lambda batch: decode(Batch(batch.frames.cpu(), batch.lengths, batch.rate_hz))


def arms(head: Transducer, batch: Batch, nemo: Path, missing: dict[str, str]) -> list[Arm]:
    """All decoders that run here; of others the reason is noted in `missing`."""
    lanes, frames = batch.frames.shape[:2]
    found = [Arm("Earshot, one thread of the CPU", on_cpu(head))]
    for mode, order in SETTINGS:
        config = DeviceLoopConfig(lanes, frames, mode, order)
        loop = DeviceLabelLoop(loop_weights_of(head), torch.device("cuda"), config)
        found.append(Arm(f"Earshot, {mode.value}, {order.value}", decoding_by(loop)))
    peers: dict[str, Callable[[], Decode]] = {
        NEMO: partial(nemo_label_looping, head, nemo, "cuda"),
        WITH_GRAPHS: partial(nemo_label_looping, head, nemo, "cuda", with_graphs=True),
    }
    return [*found, *arms_that_run(peers, missing)]


def utterances(
    head: Transducer, batches: list[int], nemo: Path, seconds: float, missing: dict[str, str]
) -> Iterator[dict[str, Timed]]:
    """Each batch's times."""
    for size in batches:
        batch = random_batch(head.config.encoder_size, size, RATE_HZ, SEED + size)
        batch = Batch(batch.frames.cuda(), batch.lengths, RATE_HZ)
        decoders = arms(head, batch, nemo, missing)
        times, _ = measure(decoders, batch, seconds, time.perf_counter, most_differing=1.0)
        print(size, {name: cell(each, times) for name, each in times.items()}, flush=True)
        yield times


def cell(found: Timed, times: dict[str, Timed]) -> str:
    """Milliseconds, RTFx, times NeMo's with graphs, and utterances that differ from the CPU's."""
    parts = [f"{1000 * found.seconds:,.1f} ms", f"{found.rtfx:,.0f}"]
    if WITH_GRAPHS in times:
        parts.append(f"{found.rtfx / times[WITH_GRAPHS].rtfx:.2f}")
    if found.differing:
        parts.append(f"{found.differing:.0%} differ")
    return " · ".join(parts)


def utterances_table(found: dict[int, dict[str, Timed]]) -> str:
    """One head's table."""
    names = list(dict.fromkeys(name for times in found.values() for name in times))
    rows = [[name, *(cell(times[name], times) for times in found.values())] for name in names]
    return table(["", *(str(size) for size in found)], rows)


def chunk_time(loop: TimedLoop, lanes: int, frames: int, turns: int) -> ChunkTime:
    """The median turn of some chunks of all lanes, each going on where the last one ended."""
    chance = torch.Generator("cuda").manual_seed(lanes)
    memory, times, labels = [loop.begin()] * lanes, list[tuple[float, float]](), 0
    for _ in range(turns):
        chunks = list(
            torch.randn(lanes, frames, SHAPE.encoder_size, generator=chance, device="cuda")
        )
        torch.cuda.synchronize()
        loop.device_s, began = 0.0, time.perf_counter()
        found = [each for each in loop(chunks, memory) if each is not None]
        times.append((time.perf_counter() - began, loop.device_s))
        memory, labels = [each.after for each in found], sum(len(each.tokens) for each in found)
    return ChunkTime(*sorted(times)[len(times) // 2], labels)


def chunks_table(head: Transducer, all_lanes: list[int], turns: int) -> str:
    """A row for each mode and order, a column for each number of streams and length of a chunk."""
    shapes, rows = list(product(all_lanes, CHUNK_FRAMES)), list[list[str]]()
    for mode, order in SETTINGS:
        times = [chunk_time(timed(head, *shape, mode, order), *shape, turns) for shape in shapes]
        rows.append([mode.value, order.value, *map(str, times)])
        print(*rows[-1], sep=" | ", flush=True)
    labels = ["labels", "", *(str(each.labels) for each in times)]
    columns = [f"{lanes} x {frames}" for lanes, frames in shapes]
    return table(["mode", "order", *columns], [*rows, labels])


def timed(head: Transducer, lanes: int, frames: int, mode: LoopMode, order: LoopOrder) -> TimedLoop:
    """A loop for so many lanes and frames at once."""
    config = DeviceLoopConfig(lanes, frames, mode, order)
    return TimedLoop(loop_weights_of(head), torch.device("cuda"), config)


def section(kind: str, asked: argparse.Namespace, missing: dict[str, str]) -> str:
    """One head's tables in Markdown."""
    print(kind, flush=True)
    head = speaking_head(SHAPE.config(KINDS[kind]), RATE_HZ)
    each = utterances(head, asked.batches, asked.nemo, asked.seconds, missing)
    found = dict(zip(asked.batches, each, strict=True))
    chunks = chunks_table(head, asked.streams, asked.turns)
    return f"## {kind}\n\n{utterances_table(found)}\n\n{chunks}\n"


def main() -> None:
    """Measure, print and, where asked, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nemo", type=Path, default=REPOSITORY / "build" / "nemo")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--batches", type=int, nargs="*", default=[1, 4, 16, 32, 128])
    parser.add_argument("--streams", type=int, nargs="*", default=[1, 16, 128, 1024])
    parser.add_argument("--seconds", type=float, default=4.0, help="for all decoders of a batch")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    missing: dict[str, str] = {}
    with torch.inference_mode():
        sections = [section(kind, asked, missing) for kind in asked.kinds]
    lacking = "".join(f"{name} did not run: {why}\n" for name, why in missing.items())
    body = f"{torch.cuda.get_device_name()}.\n\n" + "\n".join(sections) + lacking
    print(body)
    if asked.write:
        print(write_report("label_loop_gpu", "Label looping on a GPU", body))


if __name__ == "__main__":
    main()
