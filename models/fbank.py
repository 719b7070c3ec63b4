"""Log-mel filter bank features, as Kaldi's ``compute-fbank-feats`` and WeNet compute them.

Source: Kaldi ``feature-window.cc`` and ``feature-fbank.cc`` with WeNet's options: 80 bins, povey
window, pre-emphasis 0.97, DC removal per frame, power spectrum, HTK mel scale from 20 Hz, natural
log floored at float32 epsilon, ``snip_edges``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.config import FeatureConfig

PREEMPHASIS = 0.97
LOWEST_MEL_HZ = 20.0
POVEY_EXPONENT = 0.85
ENERGY_FLOOR = torch.finfo(torch.float32).eps
INT16_SCALE = 32768.0

ROW_TILE = 64
"""Rows of one multiplication on a CPU. BLAS chooses its kernel by the number of rows (on Intel's
AVX2, one for up to 64 and another for more), and takes the rows that its own tiles leave over by a
third; their sums round otherwise. Its tiles, a thread's share of the rows among them, divide 64 on
the CPUs seen so far."""


def mel_scale(frequency_hz: Tensor) -> Tensor:
    """HTK mel of each frequency."""
    return 1127.0 * (1.0 + frequency_hz / 700.0).log()


def _mel_scale_scalar(frequency_hz: float) -> float:
    return 1127.0 * math.log(1.0 + frequency_hz / 700.0)


def mel_filters(num_bins: int, fft_size: int, sample_rate_hz: int) -> Tensor:
    """Triangular filters `(fft_size / 2 + 1, num_bins)`, equally spaced on the mel scale.

    The Nyquist frequency weighs nothing in any of them, as in Kaldi.
    """
    lowest = _mel_scale_scalar(LOWEST_MEL_HZ)
    step = (_mel_scale_scalar(sample_rate_hz / 2) - lowest) / (num_bins + 1)
    index = torch.arange(num_bins).unsqueeze(1)
    left, centre, right = (lowest + (index + edge) * step for edge in (0.0, 1.0, 2.0))
    mel = mel_scale(sample_rate_hz / fft_size * torch.arange(fft_size // 2)).unsqueeze(0)
    rising = (mel - left) / (centre - left)
    falling = (right - mel) / (right - centre)
    filters = torch.minimum(rising, falling).clamp(min=0.0)
    return nn.functional.pad(filters, (0, 1)).T.contiguous()


class Fbank:
    """Turns samples into log-mel frames.

    A frame depends on its own samples and nothing else, bit for bit on the CPUs seen so far.
    `dither` is the standard deviation, in int16 steps, of the Gaussian noise added to every frame
    (training only). sample_scale: what samples in [-1, 1] are multiplied by to lie in int16 range.
    """

    sample_scale = INT16_SCALE

    def __init__(self, config: FeatureConfig | None = None, dither: float = 0.0) -> None:
        config = config or FeatureConfig()
        self.config = config
        self.dither = dither
        self.frame_length = round(config.sample_rate_hz * config.frame_length_ms / 1000)
        self.frame_shift = round(config.sample_rate_hz * config.frame_shift_ms / 1000)
        self.fft_size = 1 << (self.frame_length - 1).bit_length()
        self._window = torch.hann_window(self.frame_length, periodic=False) ** POVEY_EXPONENT
        self._filters = mel_filters(config.num_mel_bins, self.fft_size, config.sample_rate_hz)

    @property
    def size(self) -> int:
        """F."""
        return self.config.num_mel_bins

    def of_frames(self, frames: Tensor) -> Tensor:
        """Frames of samples `(N, frame_length)`, float32 in int16 range, to features `(N, F)`."""
        return self(frames)[:, 0]

    def quietest(self, features: Tensor) -> Tensor:
        """The frame `(F,)` of least energy among features `(N, F)`; there must be some."""
        return features[features.logsumexp(dim=1).argmin()]

    def frame_count(self, num_samples: int) -> int:
        """Frames that `num_samples` samples give: only whole ones (Kaldi's ``snip_edges``)."""
        if num_samples < self.frame_length:
            return 0
        return 1 + (num_samples - self.frame_length) // self.frame_shift

    def __call__(self, samples: Tensor) -> Tensor:
        """Samples `(..., N)`, float32 in int16 range, to features `(..., T, num_mel_bins)`.

        T is `frame_count(N)`, which may be 0; the result is on the samples' device.
        """
        if samples.shape[-1] < self.frame_length:
            return samples.new_zeros((*samples.shape[:-1], 0, self.config.num_mel_bins))
        frames = samples.unfold(-1, self.frame_length, self.frame_shift)
        if self.dither > 0.0:
            frames = frames + torch.randn_like(frames) * self.dither
        frames = frames - frames.mean(dim=-1, keepdim=True)
        previous = torch.cat((frames[..., :1], frames[..., :-1]), dim=-1)
        frames = (frames - PREEMPHASIS * previous) * self._window.to(frames.device)
        power = torch.fft.rfft(frames, n=self.fft_size).abs().pow(2.0)
        return self._mel_energies(power).clamp(min=ENERGY_FLOOR).log()

    def _mel_energies(self, power: Tensor) -> Tensor:
        """Energies of power spectra `(..., T, fft_size / 2 + 1)`, computed in tiles of rows."""
        rows, filters = power.flatten(0, -2), self._filters.to(power.device)
        whole = functional.pad(rows, (0, 0, 0, -len(rows) % ROW_TILE))
        # One by one on a CPU; a GPU would wait for every one of them.
        tiles = torch.split(whole, ROW_TILE) if power.device.type == "cpu" else (whole,)
        energies = torch.cat([tile @ filters for tile in tiles])[: len(rows)]
        return energies.view(*power.shape[:-1], self.config.num_mel_bins)
