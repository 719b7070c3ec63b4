"""Everything that sound is made of, read once and taken to the device that trains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.models.config import FeatureConfig
from earshot.models.features.feature_kinds import build_features
from earshot.models.features.log_mel import LogMel
from earshot.training.corpus.manifest import read_noise, read_rooms
from earshot.training.data.audio_cache import build_audio_cache
from earshot.training.data.lead import Leads
from earshot.training.data.speech import Source, Speech
from earshot.training.errors import CorpusError
from earshot.training.files.audio_file import read_samples
from earshot.training.recipe.config import Recipe, WaveformConfig
from earshot.training.recipe.distil_config import DistilConfig
from earshot.training.recipe.recipe_model import feature_config, time_shape
from earshot.training.recipe.whisper_network import start_config
from earshot.training.waveform.augmenter import SoundAugmenter
from earshot.training.waveform.builder import SoundBatchBuilder
from earshot.training.waveform.clips import Clips, load_clips
from earshot.training.waveform.noise import synthetic_noises
from earshot.training.waveform.rooms import Response, from_direct_sound, simulated_rooms

STATIONARY_NOISES = 16
LEAD_MS = 40  # leads are so many, or whole multiples: a frame of a pooled encoder


def load_rooms(manifest: Path, config: WaveformConfig, seed: int, sample_rate_hz: int) -> Tensor:
    """Impulse responses `(R, L)`, simulated and measured. Raises CorpusError."""
    measured = [
        _measured(room.path, sample_rate_hz) for room in read_rooms(manifest, config.measured_rooms)
    ]
    rooms: list[Response] = simulated_rooms(config.simulated_rooms, seed, sample_rate_hz)
    return pad_sequence([torch.from_numpy(room) for room in (*rooms, *measured)], batch_first=True)


def _measured(path: Path, sample_rate_hz: int) -> Response:
    samples = read_samples(path, sample_rate_hz).double().numpy()
    if not samples.any():
        raise CorpusError(f"{path} is silent: it is no room response")
    return from_direct_sound(samples)


def load_noises(manifest: Path, cache_dir: Path, device: torch.device) -> Clips:
    """All noise recordings of a manifest."""
    cache = build_audio_cache(cache_dir, read_noise(manifest), FeatureConfig())
    return load_clips([Source(cache, index) for index in range(len(cache))], device)


def build_sound(
    recipe: Recipe,
    config: WaveformConfig,
    speech: Speech,
    tokens: Sequence[Sequence[int]],
    mean: Tensor,
    device: torch.device | None,
) -> SoundBatchBuilder:
    """The builder of batches of sound, all of it on `device`."""
    data, seed = recipe.data, recipe.optimiser.seed
    place = device or torch.device("cpu")
    extractor = build_features(feature_config(recipe))
    rate_hz = extractor.config.sample_rate_hz
    augmenter = SoundAugmenter(
        config=recipe.augment,
        waveform=config,
        speech=load_clips(speech.sources, place),
        noises=load_noises(data.noise_manifest, data.work_dir / "noise-audio", place),
        stationary=synthetic_noises(STATIONARY_NOISES, seed, rate_hz, place),
        rooms=load_rooms(data.noise_manifest, config, seed, rate_hz).to(place),
        sample_rate_hz=rate_hz,
    )
    return SoundBatchBuilder(
        speech,
        tokens,
        data,
        augmenter,
        extractor,
        mean.to(place),
        time_shape(recipe),
        leads_of(recipe.distil, rate_hz),
        _teacher_features(recipe),
    )


def _teacher_features(recipe: Recipe) -> LogMel | None:
    """What the model of [start] hears, where a student learns from it."""
    if recipe.student is None:
        return None
    assert recipe.start is not None
    assert recipe.start.model is not None
    return build_features(start_config(recipe.start.model).features)


def leads_of(distil: DistilConfig | None, sample_rate_hz: int) -> Leads | None:
    """The silences that student and teacher both hear before recordings."""
    if distil is None:
        return None
    return Leads(round(distil.most_lead_seconds * sample_rate_hz), sample_rate_hz * LEAD_MS // 1000)
