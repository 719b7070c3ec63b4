"""Features against Whisper's own of the same recording."""

import math
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from earshot.models.config import FeatureConfig
from earshot.models.errors import ConfigError
from earshot.models.features.feature_kinds import build_features
from earshot.models.features.kaldi_fbank import Fbank
from earshot.models.features.whisper_fbank import (
    WhisperFbank,
    slaney_filters,
    slaney_hz,
    slaney_mel,
)

SHIFT, HALF = 160, 200
FIRST = 2
"""The first of Whisper's frames that has no mirrored sound in it."""


def noise(frames: int, seed: int = 0) -> torch.Tensor:
    return 0.1 * torch.randn(frames, 400, generator=torch.Generator().manual_seed(seed))


def test_a_recording_gives_whispers_features(shared_dir: Path, golden_dir: Path) -> None:
    path = shared_dir / "whisper" / "golden.npz"
    if not path.exists():
        pytest.skip(f"shared data is missing: {path}")
    with np.load(path) as arrays:
        expected, samples = torch.from_numpy(arrays["log_mel"]).T, int(arrays["samples"])
    wave, _ = soundfile.read(
        golden_dir / "wavs" / "librispeech-1995-1837-0001.wav", dtype="float32"
    )
    assert len(wave) == samples
    padded = np.pad(wave[FIRST * SHIFT - HALF :], (0, SHIFT * 100))
    found = WhisperFbank()(torch.from_numpy(padded))
    count = min(len(found), len(expected) - FIRST)
    assert count > samples // SHIFT
    # Whisper's floor is 8 decades under the loudest; ours is lower or higher, by the recording.
    floor = max(float(expected.min()), (-7.0 + 4.0) / 4.0)
    ours, theirs = found[:count], expected[FIRST:][:count]
    torch.testing.assert_close(ours.clamp(min=floor), theirs.clamp(min=floor), rtol=0, atol=2e-5)


def test_frames_are_the_same_bits_in_any_company() -> None:
    features, raw = WhisperFbank(), noise(100)
    together = features(raw)
    for count in range(1, len(raw)):
        assert torch.equal(features(raw[:count]), together[:count]), f"{count} frames"
    assert torch.equal(features.of_frames(raw), together[:, 0])


def test_a_frame_depends_on_its_own_samples_only() -> None:
    samples, features = noise(20).flatten(), WhisperFbank()
    quiet = features(samples)
    samples[-400:] *= 100.0  # Whisper would raise the floor of all frames
    assert torch.equal(features(samples)[:-3], quiet[:-3])


def test_the_floor_is_constant() -> None:
    silence = WhisperFbank()(torch.zeros(4000))
    assert torch.equal(silence, torch.full((23, 80), -0.75))
    whisper = WhisperFbank()(1e-6 * noise(20).flatten())
    assert torch.equal(whisper, torch.full_like(whisper, -0.75))


def test_ten_times_the_amplitude_is_half_a_step() -> None:
    raw = noise(5)
    torch.testing.assert_close(
        WhisperFbank()(10 * raw), WhisperFbank()(raw) + 0.5, rtol=0, atol=1e-5
    )


def test_the_quietest_frame_has_the_least_energy() -> None:
    raw = noise(9) * torch.linspace(2.0, 1.0, 9).unsqueeze(1)
    raw[4] *= 0.1
    features = WhisperFbank().of_frames(raw)
    assert torch.equal(WhisperFbank().quietest(features), features[4])
    # One loud bin outweighs many quiet ones, as energies do and logarithms do not.
    peak, level = torch.full((80,), -0.5), torch.full((80,), -0.2)
    peak[3] = 1.0
    assert torch.equal(WhisperFbank().quietest(torch.stack((peak, level))), level)


def test_filters_are_slaneys() -> None:
    filters = slaney_filters(80, 400, 16_000)
    assert filters.shape == (201, 80)
    torch.testing.assert_close(filters.sum(dim=0)[40:] * 40.0, torch.ones(40), rtol=0.1, atol=0)
    assert slaney_mel(1000.0) == pytest.approx(15.0)
    assert slaney_mel(6400.0) == pytest.approx(42.0)
    edges_hz = torch.tensor([0.0, 200.0, 1000.0, 8000.0], dtype=torch.float64)
    mels = torch.tensor([slaney_mel(edge) for edge in edges_hz.tolist()], dtype=torch.float64)
    torch.testing.assert_close(slaney_hz(mels), edges_hz)


def test_samples_in_int16_range_give_the_same_features() -> None:
    samples = noise(10).flatten()
    features = WhisperFbank()
    assert torch.equal(features.of_int16(samples * 32768), features(samples))
    kaldi = Fbank()
    assert torch.equal(kaldi.of_int16(samples * 32768), kaldi(samples * 32768))


def test_a_configuration_names_the_kind() -> None:
    assert isinstance(build_features(FeatureConfig()), Fbank)
    whisper = build_features(FeatureConfig(kind="whisper", num_mel_bins=128))
    assert isinstance(whisper, WhisperFbank)
    assert whisper(torch.zeros(400)).shape == (1, 128)


@pytest.mark.parametrize(
    "change", [{"sample_rate_hz": 8000}, {"frame_length_ms": 20.0}, {"frame_shift_ms": 12.5}]
)
def test_whispers_frames_are_fixed(change: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="whisper"):
        FeatureConfig(kind="whisper", **change)  # type: ignore[arg-type]


def test_a_tone_is_loudest_in_its_own_bin() -> None:
    tone = torch.sin(2 * math.pi * 1000.0 * torch.arange(4000) / 16_000)
    centres = slaney_hz(torch.linspace(0, slaney_mel(8000.0), 82, dtype=torch.float64))[1:-1]
    nearest = int((centres - 1000.0).abs().argmin())
    assert int(WhisperFbank()(tone)[3].argmax()) == nearest
