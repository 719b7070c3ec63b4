"""Claim: label looping decodes transducers sooner than loops over frames, on one thread of a CPU.

The tables of Bataev 2024 (2 to 5) and Galvez 2024 (1) in their shape, for decoders alone: random
weights that find labels as often as trained ones do, RNN-T and TDT, heads as of models of 114
million and 1.1 billion parameters, encoders that subsample by 8 and by 4. Every decoder gets the
same frames and is told in no table before its labels are found to be those of Algorithm 1.

By default some cells; ``--all`` measures every cell, ``--write`` writes the page. NeMo is a row
where ``--nemo`` names a folder with it (`nemo_label_looping.INSTALL`).
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

from benchmarks.report import REPOSITORY, processor_name, table, write_report
from benchmarks.transducer.ctc_greedy import ctc_greedy
from benchmarks.transducer.decoding import Decode
from benchmarks.transducer.encoder_cost import FEW_LAYERS, encoder_config, encoder_cost
from benchmarks.transducer.frame_loops import in_lock_step, one_by_one
from benchmarks.transducer.native_label_looping import native_label_looping
from benchmarks.transducer.nemo_label_looping import nemo_label_looping
from benchmarks.transducer.speaking_heads import SEED, HeadShape, random_batch, speaking_head
from benchmarks.transducer.timed_arms import Arm, Clock, Timed, arms_that_run, evaluations, measure
from benchmarks.transducer.torch_label_looping import TorchLabelLooping
from earshot.models.transducer.transducer import Transducer

FEATURE_HZ = 100
KINDS: dict[str, tuple[int, ...]] = {"RNN-T": (), "TDT": (0, 1, 2, 3, 4)}
SHAPES = {"L": HeadShape("L", 512, 1), "XXL": HeadShape("XXL", 1024, 2)}
LAYERS = {"L": 17, "XXL": 42}
"""Of the encoders beside those heads."""
SUBSAMPLING, BATCHES = (8, 4), (1, 4, 16, 32, 128)
ALONE = 4
"""Utterances that Algorithm 1 decodes: it gains nothing by more of them."""
MOST_LANES = 16
"""Streams of an encoder's step."""
SPEED_OF_LIGHT_BATCH = 32
"""Utterances a batch in Galvez 2024."""
LOCK_STEP, LOOPING = "Algorithm 2, in lock step", "Algorithm 3, label looping"
NEMO, NATIVE = "NeMo 3.0.0, label looping", "Earshot, native label looping"
CTC = "CTC, greedy"
CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}


@dataclass(frozen=True)
class Model:
    """One head and one rate of frames."""

    kind: str
    shape: HeadShape
    subsampling: int

    @property
    def name(self) -> str:
        """The heading of its table."""
        return f"{self.kind}, {self.shape.name}, {self.subsampling}x"

    @property
    def rate_hz(self) -> float:
        """Frames a second."""
        return FEATURE_HZ / self.subsampling


@dataclass(frozen=True)
class Cell:
    """One batch: each decoder's time, and how much there was to decode.

    encoder_s: seconds that the encoder takes for a second of audio, None where not measured.
    """

    utterances: int
    times: dict[str, Timed]
    labels_hz: float
    evaluations_per_label: float
    encoder_s: float | None

    def text(self, name: str) -> str:
        """Milliseconds, RTFx, times NeMo's, and the decoder's share of encoder and decoder."""
        if (time := self.times.get(name)) is None:
            return ""
        parts = [f"{1000 * time.seconds:,.0f} ms", f"{time.rtfx:,.0f}"]
        if NEMO in self.times:
            parts.append(f"{time.rtfx / self.times[NEMO].rtfx:.2f}")
        if self.encoder_s is not None:
            parts.append(f"{self.share(time):.1%}")
        return " · ".join(parts)

    def share(self, time: Timed) -> float:
        """A decoder's part of the time of encoder and decoder."""
        return 1 - self.whole_rtfx(time) * (self.encoder_s or 0)

    def whole_rtfx(self, time: Timed) -> float:
        """Seconds of audio a second, by encoder and decoder."""
        return 1 / (1 / time.rtfx + (self.encoder_s or 0))


def arms(head: Transducer, nemo: Path, missing: dict[str, str]) -> list[Arm]:
    """All decoders that run here; of others the reason is noted in `missing`."""
    found = [
        Arm("Algorithm 1, one by one", one_by_one(head), most=ALONE),
        Arm(LOOPING, TorchLabelLooping(head)),
        Arm("Algorithm 3, nothing projected in advance", TorchLabelLooping(head, False)),
    ]
    if not head.config.durations:
        found.append(Arm(LOCK_STEP, in_lock_step(head)))
    optional: dict[str, Callable[[], Decode]] = {
        NEMO: partial(nemo_label_looping, head, nemo),
        NATIVE: partial(native_label_looping, head),
    }
    found += arms_that_run(optional, missing)
    ctc: Decode = ctc_greedy(head.config.encoder_size, head.config.vocab_size)
    return [*found, Arm(CTC, ctc, is_other=True)]


def cells(model: Model, asked: argparse.Namespace, missing: dict[str, str]) -> Iterator[Cell]:
    """One model's cells, a batch each."""
    head = speaking_head(model.shape.config(KINDS[model.kind]), model.rate_hz)
    decoders, clock = arms(head, asked.nemo, missing), CLOCKS[asked.clock]
    shape = model.shape
    config = encoder_config(model.subsampling, shape.encoder_size, LAYERS[shape.name])
    encoder = None if asked.without_encoder else encoder_cost(config)
    for size in asked.batches:
        batch = random_batch(model.shape.encoder_size, size, model.rate_hz, SEED + size)
        encoder_s = encoder(min(size, MOST_LANES), clock) if encoder else None
        times, labels = measure(decoders, batch, asked.seconds, clock)
        count = sum(len(each.tokens) for each in labels)
        asked_joint = evaluations(head.joint, decoders[1], batch)
        yield Cell(size, times, count / batch.audio_s, asked_joint / count, encoder_s)


def section(model: Model, found: list[Cell]) -> str:
    """One model's table in Markdown."""
    names = list(found[0].times)
    rows = [[name, *(cell.text(name) for cell in found)] for name in names]
    rows += [
        ["labels a second", *(f"{cell.labels_hz:.2f}" for cell in found)],
        ["joint evaluations a label", *(f"{cell.evaluations_per_label:.1f}" for cell in found)],
    ]
    if found[0].encoder_s is not None:
        costs = [1000 * cell.encoder_s for cell in found if cell.encoder_s is not None]
        rows.append(["encoder, ms a second of audio", *(f"{cost:.0f}" for cost in costs)])
    differ = max(time.differing for cell in found for time in cell.times.values())
    header = ["decoder", *(f"batch {cell.utterances}" for cell in found)]
    told = f"At most {differ:.1%} of a row's utterances differ from the others'."
    return f"## {model.name}\n\n{table(header, rows)}\n\n{told}\n"


def speed_of_light(model: Model, cell: Cell) -> list[list[str]]:
    """One model's rows of Galvez 2024, Table 1, beside the first decoder of whole batches."""
    named = [name for name in (LOCK_STEP, LOOPING, NEMO, NATIVE, CTC) if name in cell.times]
    measure_of = cell.times[named[0]]
    rows = []
    for name in named:
        time = cell.times[name]
        whole, share = cell.whole_rtfx(time), cell.share(time)
        faster = whole / cell.whole_rtfx(measure_of), time.rtfx / measure_of.rtfx
        factors = [f"{factor:.2f}" for factor in faster]
        rows.append([model.name, name, f"{whole:.1f}", f"{share:.1%}", *factors])
    return rows


def speed_of_light_section(rows: list[list[str]]) -> str:
    """Galvez 2024, Table 1, in Markdown; graphs are counted and timed on pages of their own."""
    if not rows:
        return ""
    header = ["model", "decoder", "RTFx", "in the decoder", "overall", "decoder, times as fast"]
    told = f"""Batches of {SPEED_OF_LIGHT_BATCH}; a model's first row is the measure.
Graphs are [counted](label_loop_counts.md), and [timed on a card](label_loop_gpu.md)."""
    return f"## In the shape of Galvez 2024, Table 1\n\n{told}\n\n{table(header, rows)}\n"


def preface(asked: argparse.Namespace, missing: dict[str, str]) -> str:
    """What stands above the tables."""
    clock = "wall time" if asked.clock == "wall" else "CPU time of the process"
    left_out = "".join(f"\nNot run: {name}: {why}.\n" for name, why in missing.items())
    return f"""
Decoders alone, float32, one thread, random weights and frames of noise. Utterances of 4 to 16 s, 10
s in the mean. In a cell: milliseconds a batch ({clock}, the best of some,
decoders in turns, about {asked.seconds:g} s a cell and at least one run each) · RTFx, seconds of
audio a second · times NeMo's RTFx · the decoder's share of the time of decoder and encoder.
Algorithm 1 decodes {ALONE} utterances of a batch at most, since it gains nothing by more. The
encoder is Earshot's own step of a streaming FastConformer (L: D 512, {LAYERS["L"]} layers; XXL: D
1,024, {LAYERS["XXL"]} layers, reckoned from {FEW_LAYERS[0]} and {FEW_LAYERS[1]}), chunks of 14
frames, 70 before them, {MOST_LANES} streams a step at most.
{left_out}"""


def parse() -> argparse.Namespace:
    """The flags."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["L"])
    parser.add_argument("--subsampling", nargs="+", type=int, choices=SUBSAMPLING, default=[8])
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 16])
    parser.add_argument("--seconds", type=float, default=10.0, help="of all decoders of a cell")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: where others work too"
    )
    parser.add_argument("--nemo", type=Path, default=REPOSITORY / "build" / "nemo", metavar="DIR")
    parser.add_argument("--without-encoder", action="store_true", help="no share of a stream")
    parser.add_argument("--all", action="store_true", help="every cell: an hour or more")
    parser.add_argument("--write", action="store_true", help="the page, of the cells asked for")
    asked = parser.parse_args()
    if asked.all:
        asked.shapes, asked.subsampling, asked.batches = list(SHAPES), SUBSAMPLING, BATCHES
        asked.kinds = list(KINDS)
    return asked


def main() -> None:
    """Measure and print, and write the page if asked."""
    asked, missing, sections, rows = parse(), dict[str, str](), list[str](), list[list[str]]()
    torch.set_num_threads(1)  # a decoder's steps are too small to share
    with torch.inference_mode():
        for kind, shape, rate in product(asked.kinds, asked.shapes, asked.subsampling):
            model = Model(kind, SHAPES[shape], rate)
            found = list(cells(model, asked, missing))
            sections.append(section(model, found))
            print(sections[-1], flush=True)
            in_light = [cell for cell in found if cell.utterances == SPEED_OF_LIGHT_BATCH]
            rows += [row for cell in in_light for row in speed_of_light(model, cell)]
    sections.append(speed_of_light_section(rows))
    body = preface(asked, missing) + "\n" + "\n".join(sections)
    if asked.write:
        write_report("paper_tables", "Two papers' tables of transducer decoders, on a CPU", body)
    else:
        print(f"{processor_name()}, torch {torch.__version__}\n{preface(asked, missing)}")


if __name__ == "__main__":
    main()
