"""Real speech laid end to end, with pauses, as one file on disk: nothing of it stays in memory."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile

RATE_HZ = 16000
SILENT_DB = 40  # below the loudest sample
NOISE_RMS = 1e-4  # pauses are quiet rooms, not digital silence
# Most people pause for less than a second, some for several: both kinds of boundary must occur.
PAUSES_S = (0.15, 0.3, 0.6, 1.2, 2.5)

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SpokenHour:
    """One long recording and what is said in it."""

    path: Path
    duration_s: float
    text: str

    def blocks(self, block_s: float) -> Iterator[Samples]:
        """Read it from the beginning, shape ``(N,)`` each, in [-1, 1]."""
        yield from soundfile.blocks(self.path, int(block_s * RATE_HZ), dtype="float32")

    def piece(self, start_s: float, duration_s: float) -> Samples:
        """Read one piece of it."""
        start, frames = round(start_s * RATE_HZ), round(duration_s * RATE_HZ)
        samples, _ = soundfile.read(self.path, frames, start, dtype="float32")
        return np.asarray(samples, dtype=np.float32)


def lay_out(
    speech_dir: Path,
    path: Path,
    duration_s: float,
    seed: int,
    pauses_s: Sequence[float] = PAUSES_S,
) -> SpokenHour:
    """Write LibriSpeech utterances in random order until ``duration_s`` is full.

    Between two of them is one of the pauses, drawn; without any the silence around them goes too.
    """
    rng = random.Random(seed)
    utterances = [*librispeech(speech_dir / "dev.tsv"), *librispeech(speech_dir / "train.tsv")]
    rng.shuffle(utterances)
    texts, written = [], 0
    with soundfile.SoundFile(path, "w", RATE_HZ, 1, "PCM_16") as file:
        for name, text in utterances:
            samples, _ = soundfile.read(speech_dir / name, dtype="float32")
            if pauses_s:
                file.write(np.concatenate([samples, _pause(rng, pauses_s)]))
            else:
                file.write(loud_part(samples))
            texts.append(text)
            written = file.frames
            if written >= duration_s * RATE_HZ:
                break
    return SpokenHour(path, written / RATE_HZ, " ".join(texts))


def loud_part(samples: Samples) -> Samples:
    """A recording without the silence around it."""
    levels = np.abs(samples)
    loud = np.flatnonzero(levels > levels.max() * 10 ** (-SILENT_DB / 20))
    return samples[loud[0] : loud[-1] + 1]


def librispeech(table: Path) -> Iterator[tuple[str, str]]:
    """The files and texts of LibriSpeech in a table."""
    for line in table.read_text(encoding="utf-8").splitlines()[1:]:
        name, corpus, _, _, text, *_ = line.split("\t")
        if corpus == "librispeech":
            yield name, text


def _pause(rng: random.Random, pauses_s: Sequence[float]) -> Samples:
    noise = np.random.default_rng(rng.getrandbits(32))
    frames = round(rng.choice(pauses_s) * RATE_HZ)
    return (noise.standard_normal(frames) * NOISE_RMS).astype(np.float32)
