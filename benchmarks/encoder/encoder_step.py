"""Claim: the native step of an encoder costs less than torch's, and than what a compiler makes.

One chunk through stem and blocks, in CPU time of the one thread, arms in turns. All read the same
slots; what goes back into them (`EncoderState.scatter`) is the same for all, and not counted.
ONNX Runtime (`pip install onnx onnxruntime onnxscript`) is left out where it is not installed.
The second table has encoders of Whisper's shapes; `--whisper` measures and prints that one alone.
"""

import argparse
import importlib.util
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import Tensor

from benchmarks.encoder.encoder_runtimes import Blocks, Stepper, compiled, in_onnxruntime
from benchmarks.report import table, write_report
from earshot.models.checkpoints.whisper.dims import WhisperDims
from earshot.models.config import EncoderConfig
from earshot.models.native.weights import processors
from earshot.models.u2.conformer_step import ConformerStep
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.lanes import EncoderState
from earshot.models.u2.slot_step import SlotStep, TorchSlotStep
from earshot.models.u2.whisper_start import whisper_encoder_config

LANES, COLUMNS = (1, 4, 16), (100, 300)
COMPILED_COLUMNS = 100  # compiled code is for one shape, and takes a minute to make
STEPS = 3  # of an arm's turn
TOLERANCE, BFLOAT16_TOLERANCE = 1e-3, 0.2

SMALL = EncoderConfig(
    num_blocks=6, output_size=144, attention_heads=4, linear_units=432, input_layer="conv1d6",
    positions="no_pos", causal=True, cnn_module_norm="layer_norm", block_norm=False,
)  # fmt: skip
"""Of a model for laptops that is trained from scratch, see training/recipes/bundled.toml."""

WHISPER_SHAPES = {"tiny": (384, 6, 4), "base": (512, 8, 6)}
"""Width, heads and blocks."""
POOLS = {"all at 50 Hz": None, "mean after block 2": 2, "mean after the stem": 0}
WHISPER_LANES = (1, 16)
CHUNK_MS, LEFT_MS = 640, 6_400

Arm: TypeAlias = Callable[[], Any]
"""Gives the frames (B, T, D), and what changes."""


@dataclass(frozen=True)
class Case:
    """One encoder and one chunk of lanes whose rings are full."""

    name: str
    encoder: Encoder
    frames: int
    feats: Tensor
    state: EncoderState
    mask: Tensor

    @property
    def lanes(self) -> int:
        """B."""
        return self.feats.size(0)

    @property
    def columns(self) -> int:
        """C: frames of left context."""
        return self.state.capacity

    @property
    def slots(self) -> Tensor:
        """(B,): whose rows of the state are read."""
        return torch.arange(self.lanes)

    def inputs(self) -> tuple[Tensor, ...]:
        """Of `Blocks`: the slots' rows, copied as for the encoder."""
        att_cache = self.state.att_cache[:, :, :, : self.columns][self.slots]
        offset, cnn_cache = self.state.offset[self.slots], self.state.cnn_cache[self.slots]
        return self.feats, offset, self.mask, att_cache, cnn_cache


def make_case(name: str, encoder: Encoder, frames: int, lanes: int, columns: int) -> Case:
    """Random features after a past of such, as long as the rings and a chunk."""
    window = (frames - 1) * encoder.subsampling_rate + encoder.right_context + 1
    feats = torch.randn(lanes, window, encoder.config.input_dim)
    state, step = encoder.initial_state(lanes, columns), ConformerStep(encoder)
    slots, lengths = torch.arange(lanes), torch.full((lanes,), frames)
    while int(state.offset[0]) <= columns:
        state.scatter(slots, step(torch.randn_like(feats), lengths, state, slots, columns)[1])
    mask = state.gather(slots, frames, columns).key_mask(lengths)
    return Case(name, encoder, frames, feats, state, mask)


def arms(case: Case, runtimes: dict[str, Stepper]) -> dict[str, Arm]:
    """What there is to compare, torch first."""
    lengths = torch.full((case.lanes,), case.frames)
    steps: dict[str, SlotStep] = {"torch": TorchSlotStep(case.encoder)}
    for processor in processors():
        steps[f"native, {processor}"] = ConformerStep(case.encoder, processor)
    read = case.feats, lengths, case.state, case.slots, case.columns
    return {name: partial(step, *read) for name, step in steps.items()} | {
        name: partial(with_copies, step, case) for name, step in runtimes.items()
    }


def with_copies(step: Stepper, case: Case) -> Any:
    """Frames, columns and next cnn_cache."""
    return step(*case.inputs())


def measure(found: dict[str, Arm], rounds: int) -> dict[str, float]:
    """Milliseconds of a step, the median of the rounds."""
    expected = found["torch"]()[0]
    for name, arm in found.items():
        allowed = BFLOAT16_TOLERANCE if "bfloat16" in name else TOLERANCE
        if (arm()[0] - expected).abs().max() > allowed:
            raise SystemExit(f"{name} does not compute what torch does")
    taken: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds):
        for name, arm in found.items():
            began = time.thread_time()
            for _ in range(STEPS):
                arm()
            taken[name].append(1000 * (time.thread_time() - began) / STEPS)
    return {name: statistics.median(values) for name, values in taken.items()}


def networks() -> Iterator[tuple[str, Encoder, int]]:
    """Name, encoder and frames of a chunk."""
    torch.manual_seed(0)
    yield "6x144", Encoder(SMALL).eval().requires_grad_(False), 11
    yield "U2++ 12x256", Encoder(EncoderConfig()).eval().requires_grad_(False), 16


def rows(rounds: int, folder: Path) -> Iterator[dict[str, str]]:
    """Lines of the table."""
    for name, encoder, frames in networks():
        blocks, runtimes = Blocks(encoder, frames).eval(), dict[str, Stepper]()
        if importlib.util.find_spec("onnxruntime"):
            inputs = make_case(name, encoder, frames, lanes=2, columns=100).inputs()
            runtimes["ONNX Runtime"] = in_onnxruntime(blocks, inputs, folder)
        for lanes in LANES:
            for columns in COLUMNS:
                case, own = make_case(name, encoder, frames, lanes, columns), dict(runtimes)
                if columns == COMPILED_COLUMNS:
                    own["torch, compiled"] = compiled(blocks, case.inputs(), folder)
                taken = measure(arms(case, own), rounds)
                row = {"encoder": name, "lanes": str(lanes), "columns": str(columns)}
                for arm, ms in taken.items():
                    row[arm] = f"{ms:.1f} ({taken['torch'] / ms:.1f})"
                print(row, flush=True)
                yield row


def whispers() -> Iterator[tuple[str, Encoder]]:
    """Encoders of Whisper's shapes, random weights."""
    torch.manual_seed(0)
    for name, (size, heads, blocks) in WHISPER_SHAPES.items():
        dims = WhisperDims(80, 1_500, size, heads, blocks)
        for rate, pool in POOLS.items():
            config = whisper_encoder_config(dims, pool_after_block=pool)
            yield f"{name}, {rate}", Encoder(config).eval().requires_grad_(False)


def whisper_arms(case: Case) -> dict[str, Arm]:
    """Torch, and each kind of processor but the slowest; bfloat16 on the fastest."""
    read = torch.full((case.lanes,), case.frames), case.state, case.slots, case.columns
    steps: dict[str, SlotStep] = {"torch": TorchSlotStep(case.encoder, case.frames)}
    for processor in processors()[:-1]:
        steps[processor] = ConformerStep(case.encoder, processor)
    steps["bfloat16"] = ConformerStep(case.encoder, precision="bfloat16")
    return {name: partial(step, case.feats, *read) for name, step in steps.items()}


def whisper_rows(rounds: int) -> Iterator[dict[str, str]]:
    """Lines of the second table: CPU milliseconds a second of audio, of one stream."""
    for name, encoder in whispers():
        frame_ms = 10 * encoder.subsampling_rate
        for lanes in WHISPER_LANES:
            case = make_case(name, encoder, CHUNK_MS // frame_ms, lanes, LEFT_MS // frame_ms)
            row = {"encoder": name, "lanes": str(lanes)}
            for arm, ms in measure(whisper_arms(case), rounds).items():
                row[arm] = f"{ms / lanes / (CHUNK_MS / 1000):.1f}"
            print(row, flush=True)
            yield row


def whisper_table(rounds: int) -> str:
    """Whisper's shapes in Markdown."""
    found = list(whisper_rows(rounds))
    header = list(found[0])
    return table(header, [[row[name] for name in header] for row in found])


def main() -> None:
    """Run it and write docs/benchmarks/encoder_step.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--whisper", action="store_true", help="print the second table alone")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # exporters talk of their own deprecations
    torch.set_num_threads(1)
    if arguments.whisper:
        with torch.no_grad():
            print(whisper_table(arguments.rounds))
        return
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        found = list(rows(arguments.rounds, Path(folder)))
        shapes = whisper_table(arguments.rounds)
    header = list(dict.fromkeys(name for row in found for name in row))
    body = f"""
A chunk through stem and blocks: 11 frames of a small encoder (6 causal conformer blocks of 144,
without positions), 16 of one as U2++ has it (12 blocks of 256, 2048 within, positional keys), both
of random weights. Milliseconds of CPU for all lanes on one thread, in brackets how many times as
long torch takes: medians of {arguments.rounds} rounds of {STEPS} steps, arms in turns. `columns` is
left context in frames; every ring is full. All arms read the slots of the same state and agree with
torch within {TOLERANCE:g}; the stem is torch's in the native ones. Compiled is AOTInductor with g++
and frozen weights, for one shape each, so only for {COMPILED_COLUMNS} columns; ONNX Runtime has one
graph for all shapes, with the state as inputs and outputs. Both are given copies of the slots'
rows, as torch is, and join each layer's old and new columns themselves, where torch has left room
in the copy.

{table(header, [[row.get(name, "") for name in header] for row in found])}

## Whisper's shapes

Milliseconds of CPU a second of audio for one stream, stem and blocks, chunks of {CHUNK_MS} ms with
{LEFT_MS / 1000:g} s of left context, random weights of the widths of `tiny` (4 blocks of 384) and
`base` (6 of 512). A mean of two frames after a block halves the rate from there on.

{shapes}
"""
    print(body)
    print(write_report("encoder_step", "What a chunk costs in the encoder", body.lstrip()))


if __name__ == "__main__":
    main()
