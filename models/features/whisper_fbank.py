"""Log-mel features as Whisper has them, but for what looks ahead.

Source: Radford 2022, section 2.2, and the code published with it: a periodic Hann window, an FFT as
long as a frame, Slaney's mel filters of equal area, the common logarithm, (x + 4) / 4. Whisper
raises all features to 8 decades under the recording's loudest, which a stream has yet to hear; the
floor here is constant. Its frames are centred on multiples of 10 ms, with the sound mirrored at
both ends; here frame t begins at 10 t ms, as Kaldi's does.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from earshot.models.config import FeatureConfig
from earshot.models.features.log_mel import LogMel

FLOOR = -7.0
"""Of the logarithm: 8 decades under the loudest that recordings of usual level have."""
SCALE, SHIFT = 4.0, 4.0

# Slaney's scale (Auditory Toolbox, 1998): linear to 1 kHz, 27 steps to 6.4 times that above.
HZ_PER_MEL = 200.0 / 3.0
CORNER_HZ = 1000.0
CORNER_MEL = CORNER_HZ / HZ_PER_MEL
LOG_STEP = math.log(6.4) / 27.0


def slaney_mel(frequency_hz: float) -> float:
    """The mel of a frequency."""
    if frequency_hz < CORNER_HZ:
        return frequency_hz / HZ_PER_MEL
    return CORNER_MEL + math.log(frequency_hz / CORNER_HZ) / LOG_STEP


def slaney_hz(mel: Tensor) -> Tensor:
    """The frequency of each mel."""
    above = CORNER_HZ * ((mel - CORNER_MEL) * LOG_STEP).exp()
    return torch.where(mel < CORNER_MEL, mel * HZ_PER_MEL, above)


def slaney_filters(num_bins: int, fft_size: int, sample_rate_hz: int) -> Tensor:
    """Triangles of equal area `(fft_size / 2 + 1, num_bins)`, equally spaced on Slaney's scale."""
    top = slaney_mel(sample_rate_hz / 2)
    edges = slaney_hz(torch.linspace(0.0, top, num_bins + 2, dtype=torch.float64))
    lines = torch.linspace(0.0, sample_rate_hz / 2, fft_size // 2 + 1, dtype=torch.float64)
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    rising = (lines.unsqueeze(1) - left) / (centre - left)
    falling = (right - lines.unsqueeze(1)) / (right - centre)
    heights = 2.0 / (right - left)
    return (torch.minimum(rising, falling).clamp(min=0.0) * heights).float()


class WhisperFbank(LogMel):
    """Whisper's features; samples lie in [-1, 1], and so do the features, or near it."""

    sample_scale = 1.0

    def __init__(self, config: FeatureConfig | None = None) -> None:
        super().__init__(config or FeatureConfig(kind="whisper"))
        self._window = torch.hann_window(self.frame_length)

    def quietest(self, features: Tensor) -> Tensor:
        """The frame `(F,)` of least energy among features `(N, F)`; there must be some."""
        return features[(features * (SCALE * math.log(10.0))).logsumexp(dim=1).argmin()]

    def _mel_filters(self) -> Tensor:
        return slaney_filters(self.size, self.frame_length, self.config.sample_rate_hz)

    def _power(self, frames: Tensor) -> Tensor:
        spectrum = torch.fft.rfft(frames * self._window.to(frames.device))
        power: Tensor = spectrum.real.square() + spectrum.imag.square()
        return power

    def _log(self, energies: Tensor) -> Tensor:
        # The energy 10^-7 is no float32: silence is the floor itself, not something near it.
        return (energies.log10().clamp(min=FLOOR) + SHIFT) / SCALE
