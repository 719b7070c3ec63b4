"""How much audio a second a recipe's training takes in, on noise instead of speech.

``python -m benchmarks.training.training_speed RECIPE --batch-seconds 150 300 600``: a look at a
machine before hours of it are spent, and at the whole way from samples to weights on it.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import soundfile
import torch

from earshot.training.recipe.config import PhoneConfig, Recipe, load_recipe
from earshot.training.run.run import DEVICE_CHOICES, choose_device, open_run

RATE_HZ = 16_000
RECORDINGS = 240
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS_PER_SECOND = 2.7
NEVER = 10**6


def write_noise(folder: Path, recordings: int = RECORDINGS) -> None:
    """Recordings of 2 to 16 s with random words for text, manifests, and how the words sound."""
    rng, draw = np.random.default_rng(1), random.Random(1)
    words = ["".join(draw.choices(LETTERS, k=draw.randint(1, 8))) for _ in range(2000)]
    sounds = "".join(f"{word} {' '.join(word.upper())}\n" for word in words)
    (folder / "lexicon.txt").write_text(sounds, encoding="utf-8")
    rows = ["path\tcorpus\tspeaker\tseconds\ttext"]
    for number in range(recordings):
        seconds = draw.uniform(2.0, 16.0)
        name = f"{number}.wav"
        soundfile.write(folder / name, rng.normal(0, 0.05, round(seconds * RATE_HZ)), RATE_HZ)
        text = " ".join(draw.choices(words, k=max(1, round(WORDS_PER_SECOND * seconds))))
        rows.append(f"{name}\tnoise\tnobody\t{seconds:.3f}\t{text}")
    (folder / "speech.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    noise = "path\tkind\tset\tseconds\n0.wav\tnoise\tnone\t2.0\n"
    (folder / "noise.tsv").write_text(noise, encoding="utf-8")


def on_noise(recipe: Recipe, folder: Path, batch_seconds: float) -> Recipe:
    """The recipe with the noise for data, everything switched on, no epoch of short clips."""
    speech, steps, waveform = folder / "speech.tsv", recipe.optimiser, recipe.waveform
    return replace(
        recipe,
        start=None,
        waveform=None if waveform is None else replace(waveform, measured_rooms=()),
        data=replace(
            recipe.data,
            train_manifest=speech,
            dev_manifest=speech,
            noise_manifest=folder / "noise.tsv",
            more_manifests=(),
            synthetic_count=0,
            work_dir=folder / "work",
            draws_first_epoch={"noise": 1.0},
            draws_per_epoch={"noise": 1.0},
            joined_corpora=(),
            narrow_corpora=(),
            whole_corpora=(),
        ),
        augment=replace(recipe.augment, from_step=0, spec_augment_from_step=0),
        optimiser=replace(
            steps,
            first_batch_seconds=batch_seconds,
            batch_seconds=batch_seconds,
            ctc_only_steps=0,
            warmup_steps=1,
            decay_from_step=NEVER - 1,
            total_steps=NEVER,
        ),
        phones=None if recipe.phones is None else _on_noise(recipe.phones, folder),
        checkpoints=replace(recipe.checkpoints, save_every=NEVER, log_every=NEVER),
    )


def _on_noise(phones: PhoneConfig, folder: Path) -> PhoneConfig:
    later = phones.sequence_from_step is not None
    return replace(phones, lexicon=folder / "lexicon.txt", sequence_from_step=0 if later else None)


def measure(recipe: Recipe, folder: Path, device: torch.device, updates: int) -> str:
    """A row of the table: batch, milliseconds an update, audio seconds a second, memory."""
    trainer = open_run(recipe, folder, device)
    trainer.run(stop_at_step=updates // 2)  # kernels are chosen, memory is taken
    heard, began = trainer.progress.heard_seconds, time.monotonic()
    trainer.run(stop_at_step=updates // 2 + updates)
    took = time.monotonic() - began
    heard = trainer.progress.heard_seconds - heard
    memory = torch.cuda.max_memory_allocated() / 2**30 if device.type == "cuda" else float("nan")
    seconds = recipe.optimiser.batch_seconds
    return f"| {seconds:.0f} | {1000 * took / updates:.0f} | {heard / took:.0f} | {memory:.1f} |"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--batch-seconds", type=float, nargs="+", default=[150.0, 300.0, 600.0])
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--device", choices=DEVICE_CHOICES, default="auto")
    options = parser.parse_args()
    recipe, device = load_recipe(options.recipe), choose_device(options.device)
    with tempfile.TemporaryDirectory() as folder:
        write_noise(Path(folder))
        rows = [
            measure(
                on_noise(recipe, Path(folder), seconds),
                Path(folder) / f"{seconds}",
                device,
                options.updates,
            )
            for seconds in options.batch_seconds
        ]
    name = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    print(f"{recipe.name} in {recipe.optimiser.precision} on {name}\n")
    print("| s a batch | ms an update | audio s a second | GiB |\n|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
