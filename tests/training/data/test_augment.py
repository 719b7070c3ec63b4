"""What each change does to features."""

from __future__ import annotations

import numpy as np
import pytest

from earshot.training.data.augment import (
    SILENCE,
    Augmenter,
    add_noise,
    change_tempo,
    mel_centres_hz,
    narrow_band,
    pad_silence,
    spec_augment,
    trim_quiet,
    warp_frequency,
)
from earshot.training.recipe.config import AugmentConfig


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.fixture
def features(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(10.0, 2.0, size=(120, 80)).astype(np.float32)


def test_tempo_changes_the_length_and_keeps_the_ends(features: np.ndarray) -> None:
    fast = change_tempo(features, 1.5)
    assert fast.shape == (80, 80)
    np.testing.assert_array_equal(fast[[0, -1]], features[[0, -1]])


def test_warping_moves_a_formant_up() -> None:
    bin_of_1_khz = int(np.argmin(np.abs(mel_centres_hz(80) - 1000.0)))
    features = np.zeros((3, 80), dtype=np.float32)
    features[:, bin_of_1_khz] = 10.0
    moved = warp_frequency(features, 1.2).argmax(axis=1)
    assert mel_centres_hz(80)[moved] == pytest.approx([1200.0] * 3, rel=0.05)


def test_a_warp_of_one_changes_nothing(features: np.ndarray) -> None:
    np.testing.assert_allclose(warp_frequency(features, 1.0), features, atol=1e-5)


def test_mel_centres_are_those_of_the_filters() -> None:
    from earshot.models.features.kaldi_fbank import mel_filters

    peaks_hz = mel_filters(80, 512, 16_000).argmax(dim=0).numpy() * 16_000 / 512
    assert np.abs(peaks_hz - mel_centres_hz(80)).max() < 16_000 / 512


def test_ends_are_cut_where_they_are_softer_than_asked() -> None:
    level_db = np.array([0.0, 50.0, 25.0, 60.0, 10.0, 41.0, 39.0, 5.0], dtype=np.float32)
    features = np.repeat(level_db[:, None] * np.log(10.0) / 10.0, 80, axis=1)
    np.testing.assert_array_equal(trim_quiet(features, 20.0), features[1:6])
    np.testing.assert_array_equal(trim_quiet(features, 5.0), features[3:4])


def test_only_short_clips_are_cut(features: np.ndarray) -> None:
    features[:20] -= 60.0
    augmenter = Augmenter(
        AugmentConfig(clip_trim_probability=1.0, clip_tempo=(1.0, 1.0), tempo=(1.0, 1.0))
    )
    lengths = [
        len(augmenter.clip(np.random.default_rng(1), features, short)) for short in (True, False)
    ]
    assert lengths == [100, 120]


def test_noise_is_as_far_below_speech_as_asked() -> None:
    speech = np.full((50, 80), 12.0, dtype=np.float32)
    noise = np.full((50, 80), -3.0, dtype=np.float32)
    added = np.exp(add_noise(speech, noise, snr_db=10.0)) - np.exp(speech)
    assert added.sum() / np.exp(speech).sum() == pytest.approx(0.1, rel=1e-3)


def test_narrow_band_leaves_low_frequencies_alone(features: np.ndarray) -> None:
    floor = np.zeros_like(features)
    narrowed = narrow_band(features, 3500.0, floor)
    low = mel_centres_hz(80) <= 3500.0
    np.testing.assert_array_equal(narrowed[:, low], features[:, low])
    far = mel_centres_hz(80) > 5000.0
    np.testing.assert_array_equal(narrowed[:, far], floor[:, far])


def test_padding_is_silence_around_the_speech(
    rng: np.random.Generator, features: np.ndarray
) -> None:
    padded = pad_silence(rng, features, 150)
    assert padded.shape == (150, 80)
    assert (padded == SILENCE).all(axis=1).sum() == 30
    np.testing.assert_array_equal(pad_silence(rng, features, 100), features)


def test_spec_augment_masks_bands_and_stretches(
    rng: np.random.Generator, features: np.ndarray
) -> None:
    config = AugmentConfig(freq_masks=2, freq_mask_bins=15, time_masks=2, time_mask_frames=30)
    fill = np.full(80, -1.0, dtype=np.float32)
    for _ in range(20):
        masked = spec_augment(rng, features.copy(), config, fill) == -1.0
        bands, stretches = masked.all(axis=0), masked.all(axis=1)
        assert bands.sum() <= 2 * 15
        assert stretches.sum() <= 2 * 120 // 5
        assert (masked == (bands[None, :] | stretches[:, None])).all()


def test_spec_augment_does_mask(rng: np.random.Generator, features: np.ndarray) -> None:
    fill = np.full(80, -1.0, dtype=np.float32)
    masked = [spec_augment(rng, features.copy(), AugmentConfig(), fill) for _ in range(10)]
    assert np.mean(np.stack(masked) == -1.0) > 0.05


def test_what_is_whole_loses_bands_and_no_stretches(
    rng: np.random.Generator, features: np.ndarray
) -> None:
    fill = np.full(80, -1.0, dtype=np.float32)
    for _ in range(20):
        masked = spec_augment(rng, features.copy(), AugmentConfig(), fill, whole=True) == -1.0
        assert not masked.all(axis=1).any()


def test_the_same_generator_state_gives_the_same_utterance(features: np.ndarray) -> None:
    augmenter = Augmenter(AugmentConfig(), (features[:40],))
    first, second = (
        augmenter.utterance(np.random.default_rng(3), features, narrow=True) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    assert first.shape == features.shape
    assert first.dtype == np.float32


def test_stretches_of_time_hide_the_share_that_is_asked_for() -> None:
    config = AugmentConfig(freq_masks=0, time_mask_frames=20, time_mask_share=0.2)
    hidden = []
    for seed in range(200):
        rows = spec_augment(
            np.random.default_rng(seed),
            np.ones((1000, 4), np.float32),
            config,
            np.zeros(4, np.float32),
        )
        hidden.append(float((rows == 0).mean()))
    # Stretches that fall on each other hide less than their sum.
    assert 0.15 < np.mean(hidden) < 0.2
