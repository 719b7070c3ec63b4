"""Features against those of torchaudio's Kaldi-compatible fbank, as WeNet calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from earshot.models.config import FeatureConfig
from earshot.models.features.kaldi_fbank import ENERGY_FLOOR, Fbank

PCM_CASES = ("noise", "zeros", "sine", "clip", "short400", "short559", "short560")
RECORDINGS = {
    "aishell": "aishell-BAC009S0724W0121.wav",
    "libri": "librispeech-1995-1837-0001.wav",
}
# Another FFT rounds differently, by float32 epsilon of a frame's *strongest* amplitude: where a bin
# is 10^5 times weaker, its logarithm moves visibly. So amplitudes are compared, not logarithms.
OF_OWN_AMPLITUDE = 1e-6
OF_STRONGEST_AMPLITUDE = 1e-5


def assert_same_features(found: Tensor, golden: np.ndarray) -> None:
    expected = torch.from_numpy(golden).double()
    assert found.shape == expected.shape
    amplitude = (expected / 2).exp()
    strongest = amplitude.amax(dim=1, keepdim=True)
    allowed = OF_OWN_AMPLITUDE * amplitude + OF_STRONGEST_AMPLITUDE * strongest
    assert ((found.double() / 2).exp() - amplitude).abs().le(allowed).all()


@pytest.fixture(scope="module")
def golden(golden_dir: Path) -> dict[str, np.ndarray]:
    with np.load(golden_dir / "features.npz") as arrays:
        return dict(arrays)


@pytest.mark.parametrize("case", PCM_CASES)
def test_synthetic_signals_give_kaldi_features(golden: dict[str, np.ndarray], case: str) -> None:
    samples = torch.from_numpy(golden[f"pcm_{case}"].astype(np.float32))
    assert_same_features(Fbank()(samples), golden[f"fbank_{case}"])


@pytest.mark.parametrize("name", RECORDINGS)
def test_speech_gives_kaldi_features(
    golden: dict[str, np.ndarray], golden_dir: Path, name: str
) -> None:
    path = golden_dir / "wavs" / RECORDINGS[name]
    samples, _ = soundfile.read(path, dtype="int16")
    features = Fbank()(torch.from_numpy(samples.astype(np.float32)))
    assert_same_features(features, golden[f"fbank_{name}"])
    apart = np.median(np.abs(features.numpy() - golden[f"fbank_{name}"]))
    assert apart < OF_OWN_AMPLITUDE * np.abs(golden[f"fbank_{name}"]).max()


def test_frames_are_the_same_bits_in_any_company() -> None:
    generator = torch.Generator().manual_seed(0)
    fbank = Fbank()
    raw = torch.randn(100, fbank.frame_length, generator=generator) * 1000
    together = fbank(raw)
    for count in range(1, len(raw)):
        assert torch.equal(fbank(raw[:count]), together[:count]), f"{count} frames"


class Multiplications(TorchDispatchMode):
    """Keeps the shapes of what is multiplied."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[int, ...]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.mm.default:
            self.shapes.append(tuple(args[0].shape))
        return func(*args, **(kwargs or {}))


def test_every_multiplication_has_the_same_shape() -> None:
    """By which BLAS chooses its kernel, and so how sums round: not on every processor."""
    fbank, raw = Fbank(), torch.zeros(150, 400)
    with Multiplications() as made:
        for count in (1, 63, 64, 65, 150):
            fbank(raw[:count])
    assert len(set(made.shapes)) == 1
    assert len(made.shapes) == 1 + 1 + 1 + 2 + 3


def test_digital_silence_is_the_logarithm_of_the_floor() -> None:
    features = Fbank()(torch.zeros(4000))
    assert torch.equal(features, torch.full((23, 80), ENERGY_FLOOR).log())


@pytest.mark.parametrize(
    ("num_samples", "frames"), [(0, 0), (399, 0), (400, 1), (559, 1), (560, 2)]
)
def test_only_whole_frames_count(num_samples: int, frames: int) -> None:
    fbank = Fbank()
    assert fbank.frame_count(num_samples) == frames
    assert fbank(torch.zeros(num_samples)).shape == (frames, 80)


def test_a_batch_equals_its_rows() -> None:
    samples = torch.randn(3, 4000, generator=torch.Generator().manual_seed(1)) * 1000
    batched = Fbank()(samples)
    for row, features in zip(samples, batched, strict=True):
        torch.testing.assert_close(Fbank()(row), features, rtol=0, atol=1e-4)


def test_a_frame_depends_on_its_own_samples_only() -> None:
    samples = torch.randn(8000, generator=torch.Generator().manual_seed(2)) * 1000
    fbank = Fbank()
    tail = fbank(samples[160 * 7 :])
    torch.testing.assert_close(fbank(samples)[7:], tail, rtol=0, atol=1e-4)


def test_dither_replaces_digital_silence_by_noise() -> None:
    torch.manual_seed(3)
    features = Fbank(dither=1.0)(torch.zeros(4000))
    assert (features > np.log(ENERGY_FLOOR) + 5).all()


def test_other_rates_and_bin_counts_follow_the_configuration() -> None:
    fbank = Fbank(FeatureConfig(sample_rate_hz=8000, num_mel_bins=40))
    assert fbank(torch.zeros(8000)).shape == (98, 40)
