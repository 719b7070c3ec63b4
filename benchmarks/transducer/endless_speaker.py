"""What one stream that finds `max_symbols` labels in every frame costs the others of its steps.

Labels of all streams come out of a step together, so that what the endless one is asked for is
waited for by all. A step is the encoder's and the decoder's time: 114 million parameters, RNN-T.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.report import processor_name
from benchmarks.transducer.encoder_cost import EncoderCost, encoder_config
from benchmarks.transducer.paper_tables import SHAPES
from benchmarks.transducer.speaking_heads import speaking_head
from earshot.decoder_kernels.transducer.label_loop import LabelLoop
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.transducer.native_loop import label_loop_of

FRAME_S = 0.08
CHUNKS = (1, 2, 14)
"""Frames: 80, 160 and 1,120 ms."""
LOUD = 20.0
"""Times noise at which a label is likelier than the blank, whatever was said."""
STEPS = 20


@dataclass(frozen=True)
class Step:
    """Seconds of the decoder without and with the endless stream, and of the encoder."""

    usual_s: float
    endless_s: float
    encoder_s: float

    @property
    def ratio(self) -> float:
        """How much longer everybody waits."""
        return (self.endless_s + self.encoder_s) / (self.usual_s + self.encoder_s)


def chunks(lanes: int, frames: int, size: int, loud: int) -> list[Tensor]:
    """A chunk of noise for each lane; the last `loud` ones are endless."""
    found = [torch.randn(frames, size) for _ in range(lanes)]
    return [LOUD * chunk if lane >= lanes - loud else chunk for lane, chunk in enumerate(found)]


def decoding_s(loop: LabelLoop, steps: Sequence[list[Tensor]]) -> tuple[float, int]:
    """Mean time of a step, and the labels that the last lane has found."""
    memories, labels = [loop.begin()] * len(steps[0]), 0
    began = time.perf_counter()
    for step in steps:
        walked = [each for each in loop(step, memories) if each is not None]
        memories = [each.after for each in walked]
        labels += len(walked[-1].tokens)
    return (time.perf_counter() - began) / len(steps), labels


@torch.inference_mode()
def measure(head: Transducer, lanes: int, frames: int, encoder_s: float) -> Step:
    """A step of `lanes` streams with chunks of so many frames, the best of three means.

    encoder_s: for a second of one stream.
    """
    loop, size, cap = label_loop_of(head), head.config.encoder_size, head.config.max_symbols
    usual, endless = ([chunks(lanes, frames, size, loud) for _ in range(STEPS)] for loud in (0, 1))
    times = []
    for _ in range(3):
        (plain, _), (loud, labels) = decoding_s(loop, usual), decoding_s(loop, endless)
        assert labels == cap * frames * STEPS, "the endless stream has ended"
        times.append((plain, loud))
    plains, louds = zip(*times, strict=True)
    return Step(min(plains), min(louds), encoder_s * lanes * frames * FRAME_S)


def main() -> None:
    """Print a row for each number of streams and chunk."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, nargs="+", default=[4, 16, 40])
    parser.add_argument(
        "--encoder-ms", type=float, help="of a second of one stream, instead of the native step's"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    head = speaking_head(SHAPES["L"].config(()), 1 / FRAME_S)
    asked = options.encoder_ms
    encoder_s = (
        EncoderCost(encoder_config(8))(16, time.perf_counter) if asked is None else asked / 1000
    )
    print(f"{processor_name()}; the encoder takes {1000 * encoder_s:.0f} ms a second of a stream\n")
    print("| streams | chunk, ms | decoder, ms a step | with the endless one | whole step, times |")
    print("| --- | --- | --- | --- | --- |")
    for lanes in options.lanes:
        for frames in CHUNKS:
            step = measure(head, lanes, frames, encoder_s)
            told = f"{1000 * step.usual_s:.1f} | {1000 * step.endless_s:.1f} | {step.ratio:.2f}"
            print(f"| {lanes} | {1000 * FRAME_S * frames:.0f} | {told} |", flush=True)


if __name__ == "__main__":
    main()
