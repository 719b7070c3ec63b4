"""Encoder steps, label loops and beams of small random models, on two to four threads.

For a build whose sanitizer watches threads; what is heard is compared elsewhere.
"""

from collections.abc import Iterator

import torch
from random_nemo import random_nemo
from torch import Tensor

from earshot.decoder_kernels.transducer.label_beam import BeamConfig, LabelBeam
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.fastconformer.steps.choice import chunk_steps, whole_step
from earshot.models.native.weights import processors
from earshot.streaming.transducer.native_loop import label_loop_of

LANES = 9
THREADS = (2, 3, 4)
CHUNKED = ("chunks, rnnt", "chunks, tdt and ctc")
WHOLE = ("windows, tdt",)
PRECISIONS = ("float32", "bfloat16", "int8", "w8a8")
ROUNDS = 3
NEVER_ENDS = 10**6
"""Frames of a sound that goes on."""


def decode(model: FastConformerModel) -> None:
    """Walk over frames of many lengths, greedily and with a beam."""
    assert model.transducer is not None
    loop = label_loop_of(model.transducer, num_slots=16, boost_capacity=100)
    size = model.transducer.config.encoder_size
    for decoder in (loop, LabelBeam(loop, BeamConfig(4))):
        memories = [decoder.begin()] * LANES
        for frames in lane_frames(size):
            memories = [walked.after for walked in decoder(frames, memories)]


def lane_frames(size: int) -> Iterator[list[Tensor]]:
    """A chunk (T, D) of each lane, of 1 to 7 frames."""
    for turn in range(ROUNDS):
        yield [torch.randn(1 + (lane + turn) % 7, size) for lane in range(LANES)]


def step_chunks(model: FastConformerModel, precision: str) -> None:
    """Hear chunks of each context, native, and keep what they leave."""
    config = model.config.encoder
    steps = chunk_steps(model.encoder, config.contexts, LANES, precision)
    state = steps[0].start(LANES)
    slots = torch.arange(LANES - 1)
    for step in steps:
        for _ in range(ROUNDS):
            windows = torch.randn(len(slots), step.window, config.features_size)
            step.hear(state, slots, windows, torch.full((len(slots),), NEVER_ENDS)).keep()


def step_whole(model: FastConformerModel, precision: str) -> None:
    """Hear utterances of several lengths at once."""
    step = whole_step(model.encoder, 400, precision)
    for _ in range(ROUNDS):
        sounds = torch.randn(4, 200, model.config.encoder.features_size)
        step(sounds, torch.tensor([200, 100, 57, 200]))


def main() -> None:
    """All models, precisions and numbers of threads."""
    for kind in (*CHUNKED, *WHOLE):
        model = random_nemo(kind).model
        assert isinstance(model, FastConformerModel)
        for threads in THREADS:
            torch.set_num_threads(threads)
            decode(model)
            for precision in PRECISIONS:
                (step_chunks if kind in CHUNKED else step_whole)(model, precision)
        print(f"{kind}: {PRECISIONS} on {THREADS} threads of {processors()[0]}", flush=True)


if __name__ == "__main__":
    with torch.inference_mode():
        main()
