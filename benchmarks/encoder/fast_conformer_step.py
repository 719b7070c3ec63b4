"""Claim: a FastConformer's native step has most of its tile's speed, and far more than torch's.

One chunk of lanes whose rings are full, in CPU time of the one thread, arms in turns; beside them
the tile alone on layers of the same shapes. Takes g++.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.encoder.full_rings import FullRings
from benchmarks.encoder.panel_speed import PanelProducts, Shape
from benchmarks.report import table, write_report
from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.choice import chunk_steps
from earshot.models.fastconformer.steps.chunk_step import ChunkStep
from earshot.models.fastconformer.steps.torch_step import TorchChunkStep
from earshot.models.native.precision import Precision
from earshot.models.native.weights import processors

LEFT, CHUNKS, LANES = 70, (1, 2, 7, 14), (1, 4, 16)
SIZES = {512: 17, 1024: 6}
"""D and layers: of 114 million parameters; a quarter of 0.6 billion, for memory's sake."""
FRAME_S, STEM_MACS = 0.08, 3.9e6
"""Of a frame; of a frame's three convolutions of 256 channels over 80 bins."""
STEM_INPUTS = 256 * 11
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Case:
    """An encoder of D and some layers, and a chunk of lanes."""

    size: int
    chunk: int
    lanes: int

    @property
    def audio_s(self) -> float:
        """Of all lanes."""
        return self.lanes * self.chunk * FRAME_S

    @property
    def macs(self) -> float:
        """Products of all lanes: layers, attention, depthwise convolution, stem."""
        size = self.size
        attention = size * (3 * (LEFT + self.chunk) + 9)
        layers = SIZES[size] * (23 * size * size + attention)
        return self.lanes * self.chunk * (layers + STEM_MACS + STEM_INPUTS * size)

    @property
    def shapes(self) -> dict[Shape, int]:
        """Shapes of a layer's products, and how often there is one of each."""
        rows, size = self.lanes * self.chunk, self.size
        return {(rows, size, 4 * size): 2, (rows, 4 * size, size): 2, (rows, size, size): 7}


@dataclass(frozen=True)
class Found:
    """Best seconds of both arms, and GMAC/s of the tile."""

    native_s: float
    torch_s: float
    tile: float


def make_steps(
    size: int, precision: Precision = "float32"
) -> tuple[FastConformerEncoder, dict[int, ChunkStep]]:
    """An encoder with random weights, and its native steps by chunk."""
    contexts = tuple(AttentionContext(LEFT, chunk - 1) for chunk in CHUNKS)
    config = FastConformerConfig(
        80, size, SIZES[size], 8, 4 * size, 256, causal_stem=True, causal_convolution=True,
        normalise="none", contexts=tuple(each for each in contexts if LEFT % (each.right + 1) == 0),
        context_style="chunked_limited",
    )  # fmt: skip
    torch.manual_seed(0)
    encoder = FastConformerEncoder(config).eval().requires_grad_(False)
    steps = chunk_steps(encoder, config.contexts, LEFT, precision)
    return encoder, {step.chunk: step for step in steps}


def measure(
    case: Case, encoder: FastConformerEncoder, native: ChunkStep, rounds: int, tile: PanelProducts
) -> Found:
    """Both steps in turns. Raises AssertionError where they differ."""
    other = TorchChunkStep(encoder, AttentionContext(LEFT, case.chunk - 1))
    arms = [FullRings(step, case.lanes).hear for step in (native, other)]
    ours, torchs = (arm() for arm in arms)
    torch.testing.assert_close(ours, torchs, atol=TOLERANCE, rtol=TOLERANCE)
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for arm, own in zip(arms, taken, strict=True):
            began = time.thread_time()
            arm()
            own.append(time.thread_time() - began)
    return Found(min(taken[0]), min(taken[1]), tile_speed(case, tile))


def tile_speed(case: Case, tile: PanelProducts) -> float:
    """GMAC/s of a layer's products one after the other."""
    macs, seconds = 0.0, 0.0
    for (shape, often), speed in zip(case.shapes.items(), tile(list(case.shapes)), strict=True):
        rows, inputs, outputs = shape
        macs += often * rows * inputs * outputs
        seconds += often * 2 * rows * inputs * outputs / speed.float32
    return macs / seconds


def rows_of(size: int, rounds: int, tile: PanelProducts) -> Iterator[list[str]]:
    """Lines of the table."""
    encoder, steps = make_steps(size)
    for chunk, step in steps.items():
        for lanes in LANES:
            case = Case(size, chunk, lanes)
            found = measure(case, encoder, step, rounds, tile)
            speed = case.macs / found.native_s / 1e9
            row = [f"{size}", f"{1000 * chunk * FRAME_S:.0f}", f"{lanes}"]
            row += [f"{1000 * each / case.audio_s:.1f}" for each in (found.torch_s, found.native_s)]
            row += [f"{found.torch_s / found.native_s:.1f}", f"{speed:.1f}", f"{found.tile:.1f}"]
            row += [f"{100 * speed / found.tile:.0f} %"]
            print(row, flush=True)
            yield row


def report(rows: Sequence[Sequence[str]], rounds: int) -> str:
    """The page's text."""
    header = ["D", "chunk, ms", "lanes", "torch, ms a second", "native, ms a second", "times"]
    header += ["native, GMAC/s", "tile, GMAC/s", "share"]
    sizes = "; ".join(f"D {size}: {layers} layers" for size, layers in SIZES.items())
    return f"""
Stem and layers of random FastConformers ({sizes}; 8 heads, 4 D in between, kernels of 9, a stem of
256 channels, [{LEFT}, chunk - 1]) over a chunk of lanes whose rings are full, float32, one thread,
milliseconds of CPU for a second of one stream's audio, the best of {rounds} rounds, arms in turns;
outputs are the same within {TOLERANCE}. Tile: a layer's products alone, one after the other.

{table(header, rows)}
"""


def main() -> None:
    """Run it and write docs/benchmarks/fast_conformer_step.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        tile = PanelProducts(processors()[0], Path(folder))
        rows = [row for size in SIZES for row in rows_of(size, arguments.rounds, tile)]
    body = report(rows, arguments.rounds)
    print(write_report("fast_conformer_step", "A FastConformer's native step", body.lstrip()))


if __name__ == "__main__":
    main()
