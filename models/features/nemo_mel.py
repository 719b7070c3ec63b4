"""Log-mel features as NeMo's models take them, before any normalisation.

Source: the published preprocessors of those models: pre-emphasis 0.97 over the signal, a symmetric
Hann window of 25 ms in the middle of an FFT of 512, power, Slaney's mel filters, log(x + 2^-24).
Frame i is centred on sample 160 i; where there is no sound, the emphasised signal is zero.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.config import FeatureConfig
from earshot.models.features.log_mel import LogMel
from earshot.models.features.whisper_fbank import slaney_filters
from earshot.models.layers.masks import padding_mask

PREEMPHASIS = 0.97
WINDOW = 400
FFT_SIZE = 512
LOG_OFFSET = 2.0**-24


class NemoMel(nn.Module, LogMel):
    """NeMo's features; samples lie in [-1, 1].

    Its buffers, `window` (400,) and `filters` (257, F), are a checkpoint's, and without one
    computed. A frame depends on the samples 160 i - 201 … 160 i + 199: the window's, and one more
    for the pre-emphasis.
    """

    window: Tensor
    filters: Tensor
    sample_scale = 1.0

    def __init__(self, config: FeatureConfig | None = None) -> None:
        nn.Module.__init__(self)
        self.register_buffer("filters", None)
        LogMel.__init__(self, config or FeatureConfig(kind="nemo"))
        self.register_buffer("window", torch.hann_window(WINDOW, periodic=False, device="cpu"))
        self.before, self.after = WINDOW // 2 + 1, WINDOW // 2
        self.frame_length = self.before + self.after
        self.closing = self.after - self.frame_shift

    def forward(self, samples: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Samples (…, N), float32, to features (…, N // 160, F); there may be none.

        lengths: (…), of the signals, where they are shorter than N.
        """
        # A zero before the first sample leaves it as it is.
        emphasised = _emphasised(functional.pad(samples, (1, 0)))
        if lengths is not None:
            valid = padding_mask(lengths.flatten(), samples.size(-1)).view(samples.shape)
            emphasised = emphasised.masked_fill(~valid, 0.0)
        count = self.frame_count(samples.size(-1))
        if count == 0:
            return samples.new_zeros((*samples.shape[:-1], 0, self.size))
        padded = functional.pad(emphasised, (WINDOW // 2, WINDOW // 2))
        windows = padded.unfold(-1, WINDOW, self.frame_shift)[..., :count, :]
        return self._log(self._mel_energies(self._power(windows)))

    def of_frames(self, frames: Tensor) -> Tensor:
        """Frames (N, 401), each with the sample before it, to features (N, F)."""
        return self._log(self._mel_energies(self._power(_emphasised(frames))))

    def frame_count(self, num_samples: int) -> int:
        """Frames of a whole signal: those whose centres have 160 samples or more behind them."""
        return num_samples // self.frame_shift

    def quietest(self, features: Tensor) -> Tensor:
        """The frame (F,) of least energy among features (N, F); there must be some."""
        return features[features.logsumexp(dim=1).argmin()]

    def silence_after(self, last: Tensor, count: int) -> Tensor:
        """Samples (…, count) that stand for none after the last (…,) of a signal.

        The emphasised signal ends with the sound. Zeros would go on with it for one sample, which
        the last window hears; these decay so that not a bit is left.
        """
        samples = [last]
        for _ in range(count):
            samples.append(PREEMPHASIS * samples[-1])
        return torch.stack(samples, dim=-1)[..., 1:]

    def _mel_filters(self) -> Tensor:
        filters = torch.empty(FFT_SIZE // 2 + 1, self.size)
        if filters.is_meta:  # to compute them there would import all of torch's compiler
            return filters
        return slaney_filters(self.size, FFT_SIZE, self.config.sample_rate_hz)

    def _power(self, frames: Tensor) -> Tensor:
        # In the middle, as in NeMo: elsewhere the power is the same but for rounding, which shows
        # in the logarithm of weak bins.
        side = (FFT_SIZE - WINDOW) // 2
        windowed = functional.pad(frames * self.window.to(frames.device), (side, side))
        spectrum = torch.fft.rfft(windowed)
        power: Tensor = spectrum.real.square() + spectrum.imag.square()
        return power

    def _log(self, energies: Tensor) -> Tensor:
        return (energies + LOG_OFFSET).log()


def _emphasised(samples: Tensor) -> Tensor:
    """Samples (…, N + 1) less 0.97 times the one before each: (…, N)."""
    # Two operations, so that none is fused: `silence_after` counts on both roundings.
    return samples[..., 1:] - PREEMPHASIS * samples[..., :-1]
