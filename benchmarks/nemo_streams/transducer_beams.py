"""What a beam costs beside greedy decoding: in steps of streams, with the encoder's time.

A FastConformer of 114 million parameters whose rings are full, natively and in float32, and an
RNN-T or TDT with random weights that finds as many labels as a trained one. Encoder and decoders
take turns; the decoders hear noise, in which the head finds them, as an engine's do: with segments,
evidence for endpoints and partials.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor

from benchmarks.encoder.full_rings import FullRings
from benchmarks.nemo_streams.decoder_steps import stepping, words_of
from benchmarks.report import table, write_report
from benchmarks.transducer.encoder_cost import FEATURE_HZ, encoder_config
from benchmarks.transducer.paper_tables import SHAPES
from benchmarks.transducer.speaking_heads import DURATION_SHARES, speaking_head
from earshot.decoder_kernels.transducer.label_beam import BeamConfig, LabelBeam
from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.choice import chunk_steps
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.transducer.beam_decoder import BeamDecoder
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder

SUBSAMPLING = 8
FRAMES_HZ = FEATURE_HZ / SUBSAMPLING
DURATIONS = {"RNN-T": (), "TDT": tuple(range(len(DURATION_SHARES)))}
LEFT = 70
ROUNDS = 3
AUDIO_S = 6.72
"""Of every stream, in a round: six chunks of 1.12 s, one segment."""

TITLE = "A transducer's beam beside greedy decoding"
PREFACE = f"""\
A FastConformer of 114 million parameters (D 512, 17 layers, [70, chunk - 1], rings full) and heads
of H = J = 640 and 1,024 labels with random weights that find 3.5 labels a second in noise; all
natively, float32, one thread. Milliseconds of CPU for a second of one stream's audio, the best of
{ROUNDS} rounds, arms in turns, of segments of {AUDIO_S} s that decoders walk over as in an engine,
with a partial after each chunk; of a beam's decoder its search alone in brackets. End to end:
encoder and decoder, without features and the server; times greedy decoding, the median of the
rounds' ratios. Others worked on the machine meanwhile, and these rounds gave way to them (`nice`).

"""

Work = Callable[[], object]
Rounds = dict[str, list[float]]


@dataclass(frozen=True)
class Shape:
    """Streams that share each step, and frames of a chunk."""

    lanes: int
    frames: int

    @property
    def steps(self) -> int:
        """In a round."""
        return round(AUDIO_S * FRAMES_HZ / self.frames)

    def per_second(self, seconds: float) -> float:
        """Milliseconds for a second of one stream, of the seconds of a round."""
        return 1000 * seconds / (self.lanes * self.steps * self.frames / FRAMES_HZ)


def encoding(encoder: FastConformerEncoder, shape: Shape) -> Work:
    """The steps of a round by the native encoder."""
    [step] = chunk_steps(encoder, [AttentionContext(LEFT, shape.frames - 1)], LEFT)
    rings = FullRings(step, shape.lanes)

    def run() -> None:
        for _ in range(shape.steps):
            rings.move_on()

    return run


def searching(walk: LabelBeam, steps: Sequence[list[Tensor]]) -> Work:
    """The search of a round's steps alone, one after the other."""

    def run() -> None:
        memories = [walk.begin()] * len(steps[0])
        for step in steps:
            found = walk(step, memories)
            memories = [each.after for each in found if each is not None]

    return run


def taken(arms: dict[str, Work]) -> Rounds:
    """The seconds of each arm in each round; they take turns."""
    found: Rounds = {name: [] for name in arms}
    for _ in range(ROUNDS):
        for name, work in arms.items():
            began = time.process_time()
            work()
            found[name].append(time.process_time() - began)
    return found


@torch.inference_mode()
def measure(
    encoder: FastConformerEncoder, head: Transducer, shape: Shape, widths: Sequence[int]
) -> Rounds:
    """Milliseconds for a second of one stream: of the encoder, greedily, and by each beam."""
    size = head.config.encoder_size
    steps = [
        [torch.randn(shape.frames, size) for _ in range(shape.lanes)] for _ in range(shape.steps)
    ]
    loop, words = label_loop_of(head, shape.lanes), words_of(head.config.vocab_size)
    greedy = TransducerDecoder(loop, words, shape.lanes)
    arms = {"encoder": encoding(encoder, shape), "greedy": stepping(greedy, steps)}
    for width in widths:
        beam = LabelBeam(loop, BeamConfig(width))
        arms[f"beam {width}"] = stepping(BeamDecoder(loop, beam, words, shape.lanes), steps)
        arms[f"search {width}"] = searching(beam, steps)
    return {name: list(map(shape.per_second, seconds)) for name, seconds in taken(arms).items()}


def row_of(kind: str, shape: Shape, found: Rounds, widths: Sequence[int]) -> list[str]:
    """Of the table: milliseconds, and how many times greedy decoding's whole time it takes."""
    best = {name: f"{min(rounds):.1f}" for name, rounds in found.items()}
    chunk = f"{1000 * shape.frames / FRAMES_HZ:.0f}"
    beams = [f"{best[f'beam {width}']} ({best[f'search {width}']})" for width in widths]
    times = [f"{_times(found, f'beam {width}'):.2f}" for width in widths]
    return [kind, chunk, str(shape.lanes), best["encoder"], best["greedy"], *beams, *times]


def _times(found: Rounds, arm: str) -> float:
    """How many times greedy decoding's an arm's whole time is, in the middle of the rounds."""
    rounds = zip(found["encoder"], found["greedy"], found[arm], strict=True)
    return median((encoder + beam) / (encoder + greedy) for encoder, greedy, beam in rounds)


def main() -> None:
    """Measure and print, and write the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--frames", type=int, nargs="+", default=[2, 14], help="of 80 ms")
    parser.add_argument("--widths", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    encoder = FastConformerEncoder(encoder_config(SUBSAMPLING)).eval().requires_grad_(False)
    rows = []
    for kind, durations in DURATIONS.items():
        head = speaking_head(SHAPES["L"].config(durations), FRAMES_HZ)
        for shape in (Shape(lanes, frames) for frames in asked.frames for lanes in asked.lanes):
            rows.append(
                row_of(kind, shape, measure(encoder, head, shape, asked.widths), asked.widths)
            )
            print(*rows[-1], flush=True)
    widths = [f"beam {width}" for width in asked.widths]
    header = ["head", "chunk, ms", "streams", "encoder", "greedy", *widths]
    body = PREFACE + table(header + [f"{each}, times greedy end to end" for each in widths], rows)
    print(write_report("transducer_beams", TITLE, body) if asked.write else body)


if __name__ == "__main__":
    main()
