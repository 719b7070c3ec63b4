"""Random changes to cached log-mel features, cheap stand-ins for changes to the waveform.

Power spectra of independent signals add, so noise is mixed by adding in the linear mel domain;
gain and a channel's colour are constants in the log domain; speed and vocal tract length are
interpolations along time and frequency. SpecAugment: Park 2019, section 2 (no time warp).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from torch import Tensor

from earshot.training.recipe.config import AugmentConfig

Features = npt.NDArray[np.float32]
Array = TypeVar("Array", Features, Tensor)
SILENCE = np.float32(-15.942385)  # the log of the floor, what digital zeros give
LOG_POWER_PER_DB = np.log(10.0) / 10.0
LOWEST_MEL = 1127.0 * np.log(1.0 + 20.0 / 700.0)
HIGHEST_MEL = 1127.0 * np.log(1.0 + 8000.0 / 700.0)


def mel_centres_hz(num_bins: int) -> npt.NDArray[np.float64]:
    """Centre frequency of each mel bin at 16 kHz, as `Fbank` lays them out."""
    mels = LOWEST_MEL + (np.arange(num_bins) + 1) * (HIGHEST_MEL - LOWEST_MEL) / (num_bins + 1)
    return np.asarray(700.0 * (np.exp(mels / 1127.0) - 1.0))


def change_tempo(features: Features, tempo: float) -> Features:
    """`(T, F)` played `tempo` times as fast: linear interpolation between frames."""
    length = len(features)
    position = np.linspace(0.0, length - 1, max(1, round(length / tempo)))
    below = position.astype(np.int64)
    above = np.minimum(below + 1, length - 1)
    share = (position - below).astype(np.float32)[:, None]
    tempoed: Features = features[below] * (1 - share) + features[above] * share
    return tempoed


def warp_frequency(features: Features, factor: float) -> Features:
    """`(T, F)` with every formant at `factor` times its frequency (Jaitly 2013, VTLP)."""
    num_bins = features.shape[1]
    centres = mel_centres_hz(num_bins)
    position = np.interp(centres / factor, centres, np.arange(num_bins))
    below = np.minimum(position.astype(np.int64), num_bins - 2)
    share = (position - below).astype(np.float32)
    warped: Features = features[:, below] * (1 - share) + features[:, below + 1] * share
    return warped


def narrow_band(features: Features, cutoff_hz: float, floor: Features) -> Features:
    """Takes away what lies above `cutoff_hz`, as a telephone does, down to `floor` `(T, F)`."""
    excess_hz = (mel_centres_hz(features.shape[1]) - cutoff_hz).astype(np.float32)
    attenuated = features - np.clip(excess_hz * np.float32(0.03), 0.0, None)
    return np.where(excess_hz > 0, np.maximum(np.minimum(features, floor), attenuated), features)


def trim_quiet(features: Features, below_db: float) -> Features:
    """`(T, F)` without the frames at its ends that are `below_db` under the loudest.

    So does whoever cuts a recording by its level, and loses what is said softly: of "six" the vowel
    may be all that is left.
    """
    level = np.logaddexp.reduce(features, axis=1)
    (loud,) = np.nonzero(level >= level.max() - below_db * LOG_POWER_PER_DB)
    return features[loud[0] : loud[-1] + 1]


def add_noise(features: Features, noise: Features, snr_db: float) -> Features:
    """Mixes `noise` `(T, F)` in, `snr_db` below the features' mean power over their louder half."""
    level = np.exp(features).sum(axis=1)
    speech_power = level[level >= np.median(level)].mean()
    noise_power = np.exp(noise).sum(axis=1).mean()
    shift = np.log(speech_power / noise_power) - snr_db * LOG_POWER_PER_DB
    mixed: Features = np.logaddexp(features, noise + np.float32(shift)).astype(np.float32)
    return mixed


def random_colour(
    rng: np.random.Generator, num_bins: int, strength_db: float
) -> npt.NDArray[np.float32]:
    """A smooth random frequency response `(F,)` in log power, made of three cosines."""
    axis = np.linspace(0.0, np.pi, num_bins)
    gains = rng.normal(0.0, strength_db * LOG_POWER_PER_DB, size=3) / np.array([1.0, 2.0, 3.0])
    waves = np.cos(np.outer(np.arange(1, 4), axis))
    return np.asarray(gains @ waves, dtype=np.float32)


def pad_silence(rng: np.random.Generator, features: Features, length: int) -> Features:
    """`(T, F)` lengthened to `length` frames, if it is shorter, by silence on both sides."""
    missing = max(0, length - len(features))
    before = int(rng.integers(0, missing + 1))
    return np.pad(features, ((before, missing - before), (0, 0)), constant_values=SILENCE)


def white_noise(rng: np.random.Generator, length: int, num_bins: int) -> Features:
    """Features `(length, num_bins)` like those of stationary noise, coloured at random."""
    tilt = np.linspace(0.0, rng.uniform(-6.0, 4.0), num_bins)
    ripple = rng.normal(0.0, 0.35, size=(length, num_bins))
    return (tilt + ripple).astype(np.float32)


@dataclass(frozen=True)
class Augmenter:
    """Draws the changes for one utterance; `noises` are features of noise recordings."""

    config: AugmentConfig
    noises: tuple[Features, ...] = ()

    def _noise(self, rng: np.random.Generator, length: int, num_bins: int) -> Features:
        if not self.noises or rng.random() < 0.4:
            return white_noise(rng, length, num_bins)
        noise = self.noises[rng.integers(len(self.noises))]
        start = rng.integers(len(noise))
        return np.take(noise, np.arange(start, start + length), axis=0, mode="wrap")

    def clip(self, rng: np.random.Generator, features: Features, short: bool) -> Features:
        """One recording `(T, F)` at another tempo, from another vocal tract.

        `short` clips are changed more: they are few words by few people. Some are cut too close.
        """
        trimmed = self.config.clip_trim_probability
        if short and trimmed > 0 and rng.random() < trimmed:
            features = trim_quiet(features, rng.uniform(*self.config.clip_trim_db))
        tempo = self.config.clip_tempo if short else self.config.tempo
        warp = self.config.clip_warp if short else self.config.warp
        return warp_frequency(change_tempo(features, rng.uniform(*tempo)), rng.uniform(*warp))

    def quiet(self, rng: np.random.Generator, features: Features) -> Features:
        """A whole utterance `(T, F)` with hardly audible noise, so that no silence is digital."""
        noise = white_noise(rng, *features.shape)
        return add_noise(features, noise, rng.uniform(40.0, 70.0))

    def utterance(self, rng: np.random.Generator, features: Features, narrow: bool) -> Features:
        """A whole utterance `(T, F)`: channel, noise, band limit (always if it is `narrow`)."""
        config, num_bins = self.config, features.shape[1]
        features = features + random_colour(rng, num_bins, config.tilt_db)
        features = features + np.float32(rng.uniform(*config.gain_db) * LOG_POWER_PER_DB)
        noise = self._noise(rng, len(features), num_bins)
        quiet = rng.random() >= config.noise_probability
        features = add_noise(
            features, noise, rng.uniform(40.0, 70.0) if quiet else rng.uniform(*config.noise_snr_db)
        )
        if narrow or rng.random() < config.narrowband_probability:
            floor = rng.normal(rng.uniform(0.0, 8.0), 0.8, size=features.shape).astype(np.float32)
            features = narrow_band(features, rng.uniform(3300.0, 4000.0), floor)
        return np.maximum(features, SILENCE)


def spec_augment(
    rng: np.random.Generator,
    features: Array,
    config: AugmentConfig,
    fill: Array,
    whole: bool = False,
) -> Array:
    """Masks bands and stretches of time of `(T, F)` in place with `fill` `(F,)`.

    A stretch hides at most a fifth of the utterance. With `whole` there are no stretches: a word
    that stands alone has no neighbours to tell it by.
    """
    length, num_bins = features.shape
    longest = min(config.time_mask_frames, length // 5)
    for _ in range(config.freq_masks):
        width = rng.integers(0, config.freq_mask_bins + 1)
        start = rng.integers(0, num_bins - width + 1)
        features[:, start : start + width] = fill[start : start + width]
    for _ in range(0 if whole else _stretches(config, length, longest)):
        width = rng.integers(0, longest + 1)
        start = rng.integers(0, length - width + 1)
        features[start : start + width] = fill
    return features


def _stretches(config: AugmentConfig, length: int, longest: int) -> int:
    """How many stretches of time to mask: their widths are half of the longest on average."""
    if config.time_mask_share == 0.0:
        return config.time_masks
    return round(config.time_mask_share * length / max(1.0, longest / 2))
