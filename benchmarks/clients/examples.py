"""Recordings that the clients send: examples of the page, as a microphone's samples."""

import json
from dataclasses import dataclass
from pathlib import Path

import soundfile
import soxr

from benchmarks.report import REPOSITORY

SAMPLES = REPOSITORY / "web" / "samples"
CHOSEN = ("light-roast.opus", "the-door.opus")
RATE_HZ = 16000


@dataclass(frozen=True)
class Example:
    """A WAV file, and what is said in it."""

    file: Path
    said: str


def examples(folder: Path) -> list[Example]:
    """The chosen ones, as WAV files in a folder."""
    return [
        Example(_as_wav(SAMPLES / each["file"], folder), each["text"])
        for each in json.loads((SAMPLES / "samples.json").read_text(encoding="utf-8"))
        if each["file"] in CHOSEN
    ]


def _as_wav(recording: Path, folder: Path) -> Path:
    """16 bits of one channel at 16 kHz, which every client can send."""
    samples, rate = soundfile.read(recording)
    file = folder / f"{recording.stem}.wav"
    soundfile.write(file, soxr.resample(samples, rate, RATE_HZ), RATE_HZ, subtype="PCM_16")
    return file
