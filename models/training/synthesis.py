"""Synthetic speakers who say digits and number words, by espeak-ng and flite.

Many voices, if not human ones, where the recordings have four speakers.
"""

from __future__ import annotations

import csv
import io
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr
from tqdm import tqdm

from models.training.errors import CorpusError

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
# fmt: off
NUMBER_WORDS = (
    "oh", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty",
    "seventy", "eighty", "ninety", "hundred", "thousand", "million", "and", "point",
)
# fmt: on
ESPEAK_ACCENTS = (
    "en-us",
    "en-gb",
    "en-gb-scotland",
    "en-gb-x-rp",
    "en-gb-x-gbclan",
    "en-029",
    "en-gb-x-gbcwmd",
)
ESPEAK_VARIANTS = ("", *(f"+m{n}" for n in range(1, 9)), *(f"+f{n}" for n in range(1, 6)))
FLITE_VOICES = ("kal16", "awb", "rms", "slt")
SAMPLE_RATE_HZ = 16000


@dataclass(frozen=True)
class Prompt:
    """What to say, with which engine and voice, how fast and how high (espeak's 0 to 99)."""

    text: str
    engine: str
    voice: str
    words_per_minute: int
    pitch: int


def _sentence(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return rng.choice(DIGITS)
    words = DIGITS if rng.random() < 0.8 else (*DIGITS, *NUMBER_WORDS)
    return " ".join(rng.choices(words, k=rng.randint(1, 6)))


def make_prompts(count: int, seed: int) -> list[Prompt]:
    """`count` prompts, the same for the same seed: two in three by espeak-ng, the rest by flite."""
    rng = random.Random(seed)
    prompts = []
    for _ in range(count):
        engine = "flite" if rng.random() < 1 / 3 else "espeak-ng"
        voice = (
            rng.choice(FLITE_VOICES)
            if engine == "flite"
            else rng.choice(ESPEAK_ACCENTS) + rng.choice(ESPEAK_VARIANTS)
        )
        prompts.append(
            Prompt(_sentence(rng), engine, voice, rng.randint(110, 220), rng.randint(20, 80))
        )
    return prompts


def _command(prompt: Prompt, output: Path) -> list[str]:
    if prompt.engine == "flite":
        stretch = 165 / prompt.words_per_minute
        options = ["--setf", f"duration_stretch={stretch:.3f}"]
        return ["flite", "-voice", prompt.voice, *options, "-t", prompt.text, "-o", str(output)]
    options = ["-s", str(prompt.words_per_minute), "-p", str(prompt.pitch)]
    return ["espeak-ng", "-v", prompt.voice, *options, "-w", str(output), prompt.text]


def _say(prompt: Prompt, scratch: Path) -> np.ndarray:
    subprocess.run(_command(prompt, scratch), check=True, capture_output=True)
    samples, rate = soundfile.read(io.BytesIO(scratch.read_bytes()), dtype="float32")
    return np.asarray(soxr.resample(samples, rate, SAMPLE_RATE_HZ), dtype=np.float32)


def synthesise(folder: Path, count: int, seed: int) -> Path:
    """Writes `count` recordings and their manifest into `folder` and returns the manifest.

    Does nothing if it is there already.

    Raises CorpusError if espeak-ng or flite is not installed.
    """
    manifest = folder / f"synthetic-{seed}-{count}.tsv"
    if manifest.is_file():
        return manifest
    for program in ("espeak-ng", "flite"):
        if shutil.which(program) is None:
            raise CorpusError(
                f"{program} is not installed: install it, or set synthetic.count = 0 in the recipe"
            )
    (folder / "audio").mkdir(parents=True, exist_ok=True)
    rows = []
    for number, prompt in enumerate(tqdm(make_prompts(count, seed), desc="synthesis", unit="file")):
        samples = _say(prompt, folder / "scratch.wav")
        path = Path("audio") / f"{seed}-{number:05d}.flac"
        soundfile.write(folder / path, samples, SAMPLE_RATE_HZ)
        rows.append(
            [
                str(path),
                "synthetic",
                prompt.voice,
                f"{len(samples) / SAMPLE_RATE_HZ:.3f}",
                prompt.text,
            ]
        )
    with manifest.open("w", encoding="utf-8", newline="") as output:
        writer = csv.writer(output, delimiter="\t", lineterminator="\n")
        writer.writerow(["path", "corpus", "speaker", "seconds", "text"])
        writer.writerows(rows)
    return manifest
