"""Fits the head that hears the ends of turns to training recordings, and writes its file.

Recordings go on in their own room, and of some it is a loud one. A quarter of them is held out
first, and what rules find in it is printed; then the head is fitted to all. What its sound counts
for is chosen on development recordings that may be looked at (`rule_choice.py`).
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import torch

from benchmarks.report import SHARED, table
from benchmarks.server.spoken_hour import Samples
from benchmarks.turns.pause_log import chosen, going_on, pauses_in
from benchmarks.turns.pauses import counted, header, rows
from earshot.models.bundled import bundled_model_dir
from earshot.models.turns.turn_head_file import save_turn_head
from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.put_aside import read_dev_speech
from earshot.training.corpus.utterance import Utterance
from earshot.training.turns.rule_choice import with_chosen_rule
from earshot.training.turns.turn_fit import fit_turn_head
from earshot.training.waveform.noise import add_noise, coloured_noise

CORPORA = ("librispeech", "speechocean", "coffee", "ljspeech")
NOISY = 0.4
HELD_OUT = 4
"""One of so many recordings."""
STEPS = 32768
SLOPES_DB, SNRS_DB = (-6.0, 0.0), (8.0, 25.0)


def in_some_room(rng: np.random.Generator, utterance: Utterance) -> Samples:
    """A recording that goes on, `NOISY` of them in noise."""
    samples = going_on(utterance)
    if rng.random() >= NOISY:
        return samples
    noise = torch.from_numpy(coloured_noise(rng, len(samples), rng.uniform(*SLOPES_DB)))
    waves = torch.from_numpy(samples).unsqueeze(0) * STEPS  # as loud as 16-bit samples are
    loud = add_noise(waves, noise.float().unsqueeze(0), [rng.uniform(*SNRS_DB)])
    return (loud[0] / STEPS).clamp(-1, 1).numpy()


def main() -> None:
    """Fit, print what is found of what was held out, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path, help="turns.safetensors")
    parser.add_argument("--model", type=Path, default=bundled_model_dir(), help="its directory")
    parser.add_argument("--recordings", type=int, metavar="N", help="so many, drawn")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    speech = chosen(read_speech(SHARED / "speech" / "train.tsv"), CORPORA, asked.recordings)
    hearing = partial(in_some_room, np.random.default_rng(0))
    held = pauses_in(asked.model, speech[::HELD_OUT], hearing)
    kept = pauses_in(asked.model, [e for i, e in enumerate(speech) if i % HELD_OUT], hearing)
    print(counted(held, CORPORA))
    print(table(header(CORPORA), rows([(held, fit_turn_head(kept))], CORPORA)))
    tuning = chosen(read_dev_speech(SHARED / "speech" / "dev.tsv"), CORPORA, None)
    head = with_chosen_rule(fit_turn_head(held + kept), pauses_in(asked.model, tuning))
    print(head.rule)
    save_turn_head(asked.output, head)


if __name__ == "__main__":
    main()
