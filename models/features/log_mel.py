"""Log-mel features whose frames depend on their own samples alone, whoever's recipe they follow."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.config import FeatureConfig

INT16_SCALE = 32768.0

ROW_TILE = 64
"""Rows of one multiplication on a CPU. BLAS chooses its kernel by the number of rows (on Intel's
AVX2, one for up to 64 and another for more), and takes the rows that its own tiles leave over by a
third; their sums round otherwise. Its tiles, a thread's share of the rows among them, divide 64 on
the CPUs seen so far."""


class LogMel:
    """Turns samples into log-mel frames; a kind of features says what becomes of a frame.

    A frame depends on its own samples and nothing else, bit for bit on the CPUs seen so far.
    sample_scale: what samples in [-1, 1] are multiplied by; the samples taken are scaled ones.
    frame_length: the samples that a frame depends on: `before` of them before its place, which is
    `frame_shift` times its number, and `after` of them from there on. closing: samples behind a
    signal's end that its last frames want, see `silence_after`.
    """

    sample_scale: float
    closing = 0

    def __init__(self, config: FeatureConfig) -> None:
        self.config = config
        self.frame_length = round(config.sample_rate_hz * config.frame_length_ms / 1000)
        self.frame_shift = round(config.sample_rate_hz * config.frame_shift_ms / 1000)
        self.before, self.after = 0, self.frame_length
        self.filters = self._mel_filters()

    def _mel_filters(self) -> Tensor:
        """Weights `(fft_size / 2 + 1, F)` of a power spectrum in each bin."""
        raise NotImplementedError

    def _power(self, frames: Tensor) -> Tensor:
        """Power spectra `(..., T, fft_size / 2 + 1)` of frames `(..., T, frame_length)`."""
        raise NotImplementedError

    def _log(self, energies: Tensor) -> Tensor:
        """Features of energies `(..., T, F)`."""
        raise NotImplementedError

    def quietest(self, features: Tensor) -> Tensor:
        """The frame `(F,)` of least energy among features `(N, F)`; there must be some."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """F."""
        return self.config.num_mel_bins

    @property
    def silence(self) -> Tensor:
        """The features `(F,)` of a frame of zeros."""
        return self.of_frames(torch.zeros(1, self.frame_length))[0]

    def of_frames(self, frames: Tensor) -> Tensor:
        """Frames of scaled samples `(N, frame_length)`, float32, to features `(N, F)`."""
        return self(frames)[:, 0]

    def of_int16(self, samples: Tensor) -> Tensor:
        """What a call gives, of samples `(..., N)`, float32 in int16 range."""
        return self(samples * (self.sample_scale / INT16_SCALE))

    def silence_after(self, last: Tensor, count: int) -> Tensor:
        """Scaled samples (…, count) that stand for none after the last (…,) of a signal."""
        return last.new_zeros((*last.shape, count))

    def frame_count(self, num_samples: int) -> int:
        """Frames that `num_samples` samples give: only whole ones (Kaldi's ``snip_edges``)."""
        if num_samples < self.frame_length:
            return 0
        return 1 + (num_samples - self.frame_length) // self.frame_shift

    def __call__(self, samples: Tensor) -> Tensor:
        """Scaled samples `(..., N)`, float32, to features `(..., T, F)`.

        T is `frame_count(N)`, which may be 0; the result is on the samples' device.
        """
        if samples.shape[-1] < self.frame_length:
            return samples.new_zeros((*samples.shape[:-1], 0, self.size))
        frames = samples.unfold(-1, self.frame_length, self.frame_shift)
        return self._log(self._mel_energies(self._power(frames)))

    def _mel_energies(self, power: Tensor) -> Tensor:
        """Energies of power spectra `(..., T, fft_size / 2 + 1)`, computed in tiles of rows."""
        rows, filters = power.flatten(0, -2), self.filters.to(power.device)
        whole = functional.pad(rows, (0, 0, 0, -len(rows) % ROW_TILE))
        # One by one on a CPU; a GPU would wait for every one of them.
        tiles = torch.split(whole, ROW_TILE) if power.device.type == "cpu" else (whole,)
        energies = torch.cat([tile @ filters for tile in tiles])[: len(rows)]
        return energies.view(*power.shape[:-1], self.size)
