"""Changes to a batch of waves on its way to the microphone, and in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from earshot.training.recipe.config import AugmentConfig, WaveformConfig
from earshot.training.waveform.channel import DELAY, channel_response
from earshot.training.waveform.clips import Clips
from earshot.training.waveform.convolution import convolve
from earshot.training.waveform.noise import add_noise, babble, random_stretch

HARDLY_AUDIBLE_DB = (40.0, 70.0)  # below the speech
BAND_LIMIT_HZ = (3300.0, 4000.0)
FLOOR_STEPS = (0.02, 1.0)  # of int16: white noise behind the channel, so that no band is digital 0
LOUDEST = 32767.0


@dataclass(frozen=True)
class SoundAugmenter:
    """Draws the changes for batches of waves `(B, N)`, float32 in int16 range.

    `stationary` begins with white noise; `rooms` `(R, L)` are impulse responses.
    """

    config: AugmentConfig
    waveform: WaveformConfig
    speech: Clips
    noises: Clips
    stationary: Clips
    rooms: Tensor
    sample_rate_hz: int

    def speed(self, rng: np.random.Generator, short: bool) -> float:
        """How fast to play an utterance; `short` ones are few words by few people."""
        speeds = self.waveform.clip_speeds if short else self.waveform.speeds
        return float(rng.choice(speeds))

    def quiet(self, rng: np.random.Generator, waves: Tensor) -> Tensor:
        """With hardly audible noise, so that no silence is digital."""
        noises = [random_stretch(rng, self.stationary, waves.size(1)) for _ in waves]
        snr_db = rng.uniform(*HARDLY_AUDIBLE_DB, len(waves)).tolist()
        return add_noise(waves, torch.stack(noises), snr_db)

    def record(self, rng: np.random.Generator, waves: Tensor, narrow: Sequence[bool]) -> Tensor:
        """In rooms, in noise, by microphones; with a band limit for certain where it is narrow."""
        waves = self._through_channels(rng, self._in_noise(rng, self._in_rooms(rng, waves)), narrow)
        return (waves + self._floor(rng, waves)).clamp(-LOUDEST - 1, LOUDEST)

    def _in_rooms(self, rng: np.random.Generator, waves: Tensor) -> Tensor:
        chosen = np.flatnonzero(rng.random(len(waves)) < self.waveform.room_probability)
        if len(chosen) == 0:
            return waves
        rows = torch.from_numpy(chosen).to(waves.device)
        rooms = torch.from_numpy(rng.integers(len(self.rooms), size=len(chosen))).to(waves.device)
        return waves.index_copy(0, rows, convolve(waves[rows], self.rooms[rooms]))

    def _in_noise(self, rng: np.random.Generator, waves: Tensor) -> Tensor:
        noises, snr_db = [], []
        for _ in waves:
            noisy = rng.random() < self.config.noise_probability
            noises.append(self._noise(rng, waves.size(1), noisy))
            snr_db.append(rng.uniform(*(self.config.noise_snr_db if noisy else HARDLY_AUDIBLE_DB)))
        return add_noise(waves, torch.stack(noises), snr_db)

    def _noise(self, rng: np.random.Generator, length: int, noisy: bool) -> Tensor:
        kind = rng.random()
        if noisy and kind < self.waveform.babble_share:
            return babble(rng, self.speech, length)
        if not noisy or kind < self.waveform.babble_share + self.waveform.stationary_share:
            return random_stretch(rng, self.stationary, length)
        return random_stretch(rng, self.noises, length)

    def _through_channels(
        self, rng: np.random.Generator, waves: Tensor, narrow: Sequence[bool]
    ) -> Tensor:
        responses = []
        for must in narrow:
            limited = must or rng.random() < self.config.narrowband_probability
            cutoff_hz = rng.uniform(*BAND_LIMIT_HZ) if limited else None
            gain = 10 ** (rng.uniform(*self.config.gain_db) / 20)
            response = channel_response(rng, self.config.tilt_db, cutoff_hz, self.sample_rate_hz)
            responses.append(response * np.float32(gain))
        return convolve(waves, torch.from_numpy(np.stack(responses)).to(waves.device), DELAY)

    def _floor(self, rng: np.random.Generator, waves: Tensor) -> Tensor:
        start = int(rng.integers(1 << 30))
        white = self.stationary.stretch(0, start, waves.numel()).view_as(waves)
        low, high = np.log(FLOOR_STEPS)
        steps = np.exp(rng.uniform(low, high, len(waves))).astype(np.float32)
        scale = torch.from_numpy(steps).to(waves.device) / white.square().mean().sqrt()
        return white * scale.unsqueeze(1)
