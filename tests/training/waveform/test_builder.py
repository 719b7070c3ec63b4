"""Batches made of sound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from earshot.models.features.kaldi_fbank import Fbank
from earshot.training.data.sampler import Example
from earshot.training.data.speech import load_speech
from earshot.training.recipe.config import AugmentConfig, Recipe, WaveformConfig
from earshot.training.run.prepare import Prepared, prepare
from earshot.training.waveform.builder import SoundBatchBuilder
from earshot.training.waveform.clips import load_clips

NOTHING = AugmentConfig(
    gain_db=(0.0, 0.0),
    tilt_db=0.0,
    noise_probability=0.0,
    narrowband_probability=0.0,
    pad_probability=0.0,
    from_step=0,
    spec_augment_from_step=100,
)
DRY = WaveformConfig(speeds=(1.0,), clip_speeds=(1.0,), room_probability=0.0, simulated_rooms=2)
WET = WaveformConfig(simulated_rooms=3, room_probability=1.0, babble_share=0.5)
EXAMPLES = [Example((3,), 0.6), Example((0, 2), 0.6), Example((4,), 0.6)]
Change = Callable[[AugmentConfig, WaveformConfig], SoundBatchBuilder]


@pytest.fixture(scope="module")
def ready(tone_recipe: Recipe) -> Prepared:
    return prepare(replace(tone_recipe, augment=NOTHING, waveform=WET))


@pytest.fixture
def builder_with(ready: Prepared) -> Change:
    def change(augment: AugmentConfig, waveform: WaveformConfig) -> SoundBatchBuilder:
        assert isinstance(ready.builder, SoundBatchBuilder)
        augmenter = replace(ready.builder.augmenter, config=augment, waveform=waveform)
        return replace(ready.builder, augmenter=augmenter)

    return change


def test_undisturbed_sound_gives_the_features_of_the_recording(builder_with: Change) -> None:
    builder = builder_with(NOTHING, DRY)
    batch = builder.build(np.random.default_rng(1), EXAMPLES[:1], 0)
    expected = builder.speech.features(3)
    frames = int(batch.feature_lengths[0])
    assert frames >= len(expected)
    loud = expected > expected.max() - 8.0  # noise 40 dB below reaches no further
    start = frames - len(expected)
    near = [
        np.abs(batch.features[0, first : first + len(expected)].numpy() - expected)[loud].max()
        for first in range(start + 1)
    ]
    assert min(near) < 0.2


def test_a_batch_has_what_training_needs(builder_with: Change) -> None:
    builder = builder_with(replace(NOTHING, pad_probability=0.5), WET)
    batch = builder.build(np.random.default_rng(2), EXAMPLES, 0)
    assert batch.features.shape == (3, int(batch.feature_lengths.max()), 80)
    assert torch.isfinite(batch.features).all()
    assert batch.seconds == pytest.approx(float(batch.feature_lengths.sum()) / 100)
    tokens = [builder.tokens[0] + builder.tokens[2]]
    assert batch.tokens[1, : batch.token_lengths[1]].tolist() == tokens[0]


def test_the_same_generator_state_gives_the_same_batch(builder_with: Change) -> None:
    builder = builder_with(replace(AugmentConfig(), from_step=0, spec_augment_from_step=0), WET)
    once, again = (builder.build(np.random.default_rng(3), EXAMPLES, 5).features for _ in range(2))
    other = builder.build(np.random.default_rng(4), EXAMPLES, 5).features
    assert torch.equal(once, again)
    assert once.shape != other.shape or not torch.equal(once, other)


def test_speed_changes_how_long_an_example_is(builder_with: Change) -> None:
    def frames(speed: float) -> float:
        builder = builder_with(NOTHING, replace(DRY, speeds=(speed,), clip_speeds=(speed,)))
        return float(builder.build(np.random.default_rng(1), EXAMPLES[:1], 0).seconds)

    assert frames(0.8) == pytest.approx(frames(1.0) / 0.8, rel=0.05)


def test_early_batches_are_plain(builder_with: Change) -> None:
    builder = builder_with(replace(NOTHING, from_step=10), replace(DRY, speeds=(0.5,)))
    plain, changed = (
        builder.build(np.random.default_rng(1), EXAMPLES[:1], step).seconds for step in (9, 10)
    )
    assert changed > 1.8 * plain


def test_spec_augment_hides_behind_the_mean(builder_with: Change) -> None:
    builder = builder_with(replace(NOTHING, spec_augment_from_step=0, freq_mask_bins=40), DRY)
    batch = builder.build(np.random.default_rng(5), EXAMPLES, 0)
    assert (batch.features == builder.mean).all(dim=1).any()


def test_cached_features_are_no_sound(tone_recipe: Recipe) -> None:
    data = tone_recipe.data
    speech = load_speech(data.dev_manifest, data.work_dir / "dev")
    with pytest.raises(TypeError, match="FeatureCache"):
        load_clips(speech.sources, torch.device("cpu"))


def test_sound_is_kept_as_it_was_recorded(tone_recipe: Recipe) -> None:
    data = tone_recipe.data
    speech = load_speech(data.dev_manifest, data.work_dir / "dev-sound", as_audio=True)
    clip = load_clips(speech.sources, torch.device("cpu"))[1]
    assert clip.abs().max() == pytest.approx(0.3 * 32768, rel=0.01)
    np.testing.assert_array_equal(Fbank()(clip).numpy(), speech.features(1))


def test_a_batch_is_made_on_its_device_without_waiting_for_it(tone_recipe: Recipe) -> None:
    # The meta device mixes with no other, and whoever asks it for a value gets an error.
    recipe = replace(tone_recipe, augment=replace(NOTHING, noise_probability=1.0), waveform=WET)
    builder = prepare(recipe, torch.device("meta")).builder
    batch = builder.build(np.random.default_rng(6), EXAMPLES, 200)
    assert batch.features.device.type == "meta"
    assert batch.features.shape[0] == batch.feature_lengths.numel() == len(EXAMPLES)
