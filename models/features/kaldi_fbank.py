"""Log-mel filter bank features, as Kaldi's ``compute-fbank-feats`` and WeNet compute them.

Source: Kaldi ``feature-window.cc`` and ``feature-fbank.cc`` with WeNet's options: 80 bins, povey
window, pre-emphasis 0.97, DC removal per frame, power spectrum, HTK mel scale from 20 Hz, natural
log floored at float32 epsilon, ``snip_edges``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from earshot.models.config import FeatureConfig
from earshot.models.features.log_mel import INT16_SCALE, LogMel

PREEMPHASIS = 0.97
LOWEST_MEL_HZ = 20.0
POVEY_EXPONENT = 0.85
ENERGY_FLOOR = torch.finfo(torch.float32).eps


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


class Fbank(LogMel):
    """Kaldi's features; samples lie in int16 range.

    `dither` is the standard deviation, in int16 steps, of the Gaussian noise added to every frame
    (training only).
    """

    sample_scale = INT16_SCALE

    def __init__(self, config: FeatureConfig | None = None, dither: float = 0.0) -> None:
        super().__init__(config or FeatureConfig())
        self.dither = dither
        self._window = torch.hann_window(self.frame_length, periodic=False) ** POVEY_EXPONENT

    @property
    def fft_size(self) -> int:
        """The next power of two to a frame's samples."""
        return 1 << (self.frame_length - 1).bit_length()

    def quietest(self, features: Tensor) -> Tensor:
        """The frame `(F,)` of least energy among features `(N, F)`; there must be some."""
        return features[features.logsumexp(dim=1).argmin()]

    def _mel_filters(self) -> Tensor:
        return mel_filters(self.size, self.fft_size, self.config.sample_rate_hz)

    def _power(self, frames: Tensor) -> Tensor:
        if self.dither > 0.0:
            frames = frames + torch.randn_like(frames) * self.dither
        frames = frames - frames.mean(dim=-1, keepdim=True)
        previous = torch.cat((frames[..., :1], frames[..., :-1]), dim=-1)
        frames = (frames - PREEMPHASIS * previous) * self._window.to(frames.device)
        power: Tensor = torch.fft.rfft(frames, n=self.fft_size).abs().pow(2.0)
        return power

    def _log(self, energies: Tensor) -> Tensor:
        return energies.clamp(min=ENERGY_FLOOR).log()
