"""Noise to speak in: recorded, of many colours, or of other people talking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from earshot.training.waveform.clips import Clips

LEVEL_FRAME = 400  # samples, 25 ms
SILENT = 0.1  # of the mean power: frames below it are pauses
QUIETEST = 1e-3  # power of what is as good as nothing; one int16 step has 1.0
LOUDEST_NOISE = 5000
COLOURED_SECONDS = 5
STEEPEST_DB = 9.0  # per octave: brown noise falls by 6


def coloured_noise(rng: np.random.Generator, length: int, slope_db: float) -> npt.NDArray[np.int16]:
    """Stationary noise whose power changes by `slope_db` for every octave."""
    spectrum = np.fft.rfft(rng.normal(0.0, 1.0, length))
    octave = np.log2(np.maximum(np.arange(len(spectrum)), 16) / 16)
    noise = np.fft.irfft(spectrum * 10 ** (slope_db * octave / 20), n=length)
    return np.asarray(noise * (LOUDEST_NOISE / np.abs(noise).max()), dtype=np.int16)


def synthetic_noises(count: int, seed: int, sample_rate_hz: int, device: torch.device) -> Clips:
    """`count` stationary noises; the first is white."""
    rng = np.random.default_rng((seed, 4))
    length = COLOURED_SECONDS * sample_rate_hz
    slopes = [0.0, *rng.uniform(-STEEPEST_DB, STEEPEST_DB / 3, count - 1)]
    bank = np.concatenate([coloured_noise(rng, length, slope) for slope in slopes])
    places = [(0, number * length, (number + 1) * length) for number in range(count)]
    return Clips([torch.from_numpy(bank).to(device)], places)


def random_stretch(rng: np.random.Generator, clips: Clips, length: int) -> Tensor:
    """`(length,)` of any of the recordings, from anywhere in it."""
    index = int(rng.integers(len(clips)))
    return clips.stretch(index, int(rng.integers(1 << 30)), length)


def babble(rng: np.random.Generator, clips: Clips, length: int) -> Tensor:
    """`(length,)` of three to six people at once."""
    voices = [random_stretch(rng, clips, length) for _ in range(int(rng.integers(3, 7)))]
    powers = [active_power(voice.unsqueeze(0)) for voice in voices]
    return torch.stack(
        [voice / power.sqrt() for voice, power in zip(voices, powers, strict=True)]
    ).sum(dim=0)


def active_power(waves: Tensor) -> Tensor:
    """Mean power `(B,)` of the frames of `(B, N)` that are not pauses."""
    frames = waves.unfold(1, LEVEL_FRAME, LEVEL_FRAME).square().mean(dim=2)
    active = frames >= SILENT * frames.mean(dim=1, keepdim=True)
    power: Tensor = (frames * active).sum(dim=1) / active.sum(dim=1)
    return power.clamp(min=QUIETEST)


def add_noise(waves: Tensor, noises: Tensor, snr_db: Sequence[float]) -> Tensor:
    """Waves `(B, N)` with noises `(B, N)`, each as far below its wave's speech as asked."""
    wanted = active_power(waves) / 10 ** (waves.new_tensor(snr_db) / 10)
    present = noises.square().mean(dim=1).clamp(min=QUIETEST)
    return waves + noises * (wanted / present).sqrt().unsqueeze(1)
