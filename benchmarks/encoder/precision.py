"""Claim: bfloat16 takes less CPU than float32, and what that is worth depends on the size.

The step of three encoders, in CPU time of the one thread, arms in turns; then the products of a
linear layer alone, beside torch's (oneDNN). Takes g++.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.encoder.encoder_step import make_case
from benchmarks.encoder.panel_speed import PanelProducts
from benchmarks.report import table, write_report
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.config import EncoderConfig
from earshot.models.native.precision import Precision
from earshot.models.native.weights import processors
from earshot.models.u2.conformer_step import ConformerStep
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.u2 import U2Model

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16")
FRAMES, LANES, COLUMNS = (16, 32), (1, 16), 100
SHAPES = {"4 x 384": (4, 384, 6, 1536), "6 x 512": (6, 512, 8, 2048)}
"""Blocks, size, heads and inner size; without convolution and macaron."""

PRODUCTS = [(rows, *shape) for shape in ((384, 1536), (2048, 512)) for rows in (1, 16, 256)]
"""Rows, inputs and outputs."""

ROUND_S, WEIGHTS_BYTES = 0.05, 12e6


def networks() -> Iterator[tuple[str, Encoder]]:
    """Name and encoder."""
    loaded = load_model(bundled_model_dir()).model
    assert isinstance(loaded, U2Model)
    yield "bundled", loaded.encoder
    torch.manual_seed(0)
    for name, (blocks, size, heads, inner) in SHAPES.items():
        config = EncoderConfig(
            num_blocks=blocks,
            output_size=size,
            attention_heads=heads,
            linear_units=inner,
            input_layer="conv1d6",
            positions="no_pos",
            activation="gelu",
            use_cnn_module=False,
            macaron_style=False,
        )
        yield name, Encoder(config).eval().requires_grad_(False)


def frame_ms(encoder: Encoder) -> float:
    """Audio between two frames, of features every 10 ms."""
    return 10.0 * encoder.subsampling_rate


def step_rows(rounds: int) -> Iterator[list[str]]:
    """Lines of the first table."""
    for name, encoder in networks():
        for frames in FRAMES:
            for lanes in LANES:
                taken, away = measure_step(name, encoder, frames, lanes, rounds)
                audio_s = lanes * frames * frame_ms(encoder) / 1000
                exact, rounded = (taken[each] for each in PRECISIONS)
                row = [name, str(lanes), str(frames), f"{exact:.1f}", f"{rounded:.1f}"]
                row += [f"{exact / audio_s:.2f}", f"{rounded / audio_s:.2f}"]
                row += [f"{exact / rounded:.2f}", f"{away:.4f}"]
                print(row, flush=True)
                yield row


def measure_step(
    name: str, encoder: Encoder, frames: int, lanes: int, rounds: int
) -> tuple[dict[Precision, float], float]:
    """Milliseconds by precision, the medians; and how far outputs are apart in the mean."""
    case = make_case(name, encoder, frames, lanes, COLUMNS)
    read = case.feats, torch.full((lanes,), frames), case.state, case.slots, COLUMNS
    arms = {each: partial(ConformerStep(encoder, precision=each), *read) for each in PRECISIONS}
    outputs = [arm()[0] for arm in arms.values()]
    taken: dict[Precision, list[float]] = {each: [] for each in PRECISIONS}
    for _ in range(rounds):
        for each, arm in arms.items():
            began = time.thread_time()
            for _ in range(16 // lanes):
                arm()
            taken[each].append(1000 * (time.thread_time() - began) / (16 // lanes))
    away = (outputs[0] - outputs[1]).abs().mean().item()
    return {each: statistics.median(own) for each, own in taken.items()}, away


def product_rows(folder: Path) -> Iterator[list[str]]:
    """Lines of the second table."""
    kinds = [each for each in processors() if each != "portable"]
    ours = [PanelProducts(each, folder)(PRODUCTS) for each in kinds]
    for i, (rows, inputs, outputs) in enumerate(PRODUCTS):
        torchs = [
            torch_gflops(rows, inputs, outputs, dtype) for dtype in (torch.float32, torch.bfloat16)
        ]
        found = [f"{own[i].float32:.0f} / {own[i].bfloat16:.0f}" for own in ours]
        yield [f"{rows} x {inputs} x {outputs}", *found, " / ".join(f"{x:.0f}" for x in torchs)]


@torch.no_grad()
def torch_gflops(rows: int, inputs: int, outputs: int, dtype: torch.dtype) -> float:
    """The fastest of five rounds."""
    count = max(round(WEIGHTS_BYTES / (4 * inputs * outputs)), 1)
    layers = [nn.Linear(inputs, outputs).to(dtype) for _ in range(count)]
    given = torch.randn(rows, inputs).to(dtype)
    passes = [products_a_second(layers, given) for _ in range(5)]
    return 2e-9 * rows * inputs * outputs * max(passes)


def products_a_second(layers: list[nn.Linear], given: Tensor) -> float:
    """Layers a second of CPU."""
    done, began = 0, time.thread_time()
    while time.thread_time() - began < ROUND_S:
        for layer in layers:
            layer(given)
        done += len(layers)
    return done / (time.thread_time() - began)


def main() -> None:
    """Run it and write docs/benchmarks/precision.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with torch.no_grad():
        steps = list(step_rows(arguments.rounds))
    with tempfile.TemporaryDirectory() as folder:
        products = list(product_rows(Path(folder)))
    step_header = ["encoder", "lanes", "frames", "float32, ms", "bfloat16, ms"]
    step_header += ["float32, ms a second", "bfloat16, ms a second", "ratio", "apart"]
    kinds = [each for each in processors() if each != "portable"]
    body = f"""
## A step

A chunk through stem and blocks natively, {COLUMNS} columns of left context, every ring full.
`bundled` is Whisper tiny's encoder with the mean of two frames after its second block, frames of
40 ms; the others are transformer blocks (pre-norm, GELU, without convolution and macaron) behind a
stem of convolutions, with random weights and frames of 60 ms.
Milliseconds of CPU of one thread for all lanes, medians of {arguments.rounds} rounds, arms in
turns; then by second of audio. `apart`: the mean distance of both outputs, whose numbers are about
1 in size.

{table(step_header, steps)}

## Products alone

GFLOP/s of one thread in float32 / bfloat16: rows x inputs x outputs, weights from beyond the second
cache, the fastest of five rounds. Without the instruction bfloat16 is emulated.

{table(["shape", *kinds, "torch"], products)}
"""
    print(body)
    print(write_report("precision", "What bfloat16 saves", body.lstrip()))


if __name__ == "__main__":
    main()
