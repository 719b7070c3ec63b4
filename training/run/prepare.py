"""Everything a run needs before its first update: features, units, statistics, development set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import torch
from torch import Tensor

from earshot.models.config import FeatureConfig
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.tokenizers.model_tokenizer import load_tokenizer
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.training.corpus.manifest import read_noise
from earshot.training.data.augment import Augmenter, Features
from earshot.training.data.batch import Batch, BatchBuilder
from earshot.training.data.feature_cache import build_feature_cache
from earshot.training.data.lead import Leads
from earshot.training.data.sampler import Example, Sampler
from earshot.training.data.speech import (
    Speech,
    load_dev_speech,
    load_sped_speech,
    load_training_speech,
)
from earshot.training.distil.build import build_targets, build_teacher
from earshot.training.distil.build_texts import build_texts
from earshot.training.distil.targets import Targets
from earshot.training.distil.written_texts import WrittenTexts
from earshot.training.errors import CorpusError
from earshot.training.files.made_of import keep_made
from earshot.training.measuring.greedy import (
    error_rates,
    greedy_error_rates,
    greedy_tokens,
    transducer_tokens,
)
from earshot.training.network.trained_model import TrainedModel
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.recipe_model import feature_config, time_shape
from earshot.training.run.cmvn import compute_cmvn
from earshot.training.student.student_texts import student_texts
from earshot.training.student.student_units import student_units
from earshot.training.texts.units import UNITS_FILE, train_units
from earshot.training.waveform.clips import Clips
from earshot.training.waveform.load import build_sound

Tokens: TypeAlias = Sequence[Sequence[int]]

CMVN_STRIDE = 7  # every seventh utterance is plenty
MOST_COMPUTED = 500  # utterances, where features are not at hand


class Builder(Protocol):
    """A builder of batches."""

    def build(self, rng: np.random.Generator, examples: Sequence[Example], step: int) -> Batch:
        """The batch of update `step`; the same for the same state of `rng`."""
        ...


@dataclass(frozen=True)
class Prepared:
    """What the trainer works on."""

    sampler: Sampler
    builder: Builder
    tokenizer: Tokenizer
    mean: Tensor
    istd: Tensor
    dev: Speech
    dev_chunk_size: int
    targets: Targets | None = None
    texts: WrittenTexts | None = None

    def dev_errors(self, model: TrainedModel) -> dict[str, float]:
        """Word error rate by corpus of the development subset, greedily, chunk by chunk.

        By the transducer's head of a model that has one, else by CTC.
        """
        if isinstance(model, FastConformerModel):
            return error_rates(self.dev, student_texts(model, self.tokenizer, self.dev))
        decode = greedy_tokens if model.transducer is None else transducer_tokens
        return greedy_error_rates(model, self.tokenizer, self.dev, self.dev_chunk_size, decode)


def units_folder(recipe: Recipe) -> Path:
    """Where the run's units are: with the model that it starts from, or in its own folder."""
    if recipe.start is None or recipe.start.model is None:
        return recipe.data.work_dir / "units"
    return recipe.start.model


def make_units(recipe: Recipe, speech: Speech) -> Tokenizer:
    """The run's units, made of the transcripts the first time, and again when those change."""
    folder = units_folder(recipe)
    if recipe.student is not None:
        return student_units(folder)
    if recipe.start is None or recipe.start.model is None:
        texts = [utterance.text for utterance in speech.utterances if utterance.text]
        checksum = hashlib.sha256("\n".join(texts).encode()).hexdigest()
        made_of = (str(recipe.units.tokens), checksum)
        keep_made(folder / UNITS_FILE, made_of, lambda: train_units(texts, recipe.units, folder))
    return load_tokenizer(folder)


def build_features(recipe: Recipe, speech: Speech, tokens: Tokens, mean: Tensor) -> BatchBuilder:
    """The builder of batches of features that are kept on disk. Raises CorpusError."""
    data = recipe.data
    noise = data.work_dir / "noise"
    recordings = read_noise(data.noise_manifest)
    cache = build_feature_cache(noise, recordings, FeatureConfig())
    for index, recording in enumerate(recordings):
        if not cache.frame_count(index):
            raise CorpusError(f"{recording.path} is too short: it has no frame")
    return BatchBuilder(
        speech=speech,
        tokens=tokens,
        data=data,
        augmenter=Augmenter(recipe.augment, tuple(cache[index] for index in range(len(cache)))),
        mean=mean.numpy(),
        stem=time_shape(recipe),
        sped=load_sped_speech(data, recipe.network.language),
    )


def prepare(recipe: Recipe, device: torch.device | None = None) -> Prepared:
    """Builds or reopens features or samples, and units; sound is changed on `device`.

    Raises CorpusError for a recording that is missing or broken, RecipeError for corpora that are.
    """
    speech = _training_speech(recipe)
    tokenizer = make_units(recipe, speech)
    tokens = [tokenizer.encode(each.text) if each.text else [] for each in speech.utterances]
    mean, istd = compute_cmvn(_some_features(recipe, speech))
    targets = texts = None
    builder: Builder
    if recipe.waveform is None:
        builder = build_features(recipe, speech, tokens, mean)
    else:
        builder = build_sound(recipe, recipe.waveform, speech, tokens, mean, device)
        if builder.leads is not None:
            clips = builder.augmenter.speech
            targets, texts = _teach(recipe, speech, clips, builder.leads, device)
    dev = load_dev_speech(
        recipe.data, features=feature_config(recipe), language=recipe.network.language
    )
    return Prepared(
        _sampler(recipe, speech),
        builder,
        tokenizer,
        mean,
        istd,
        dev.subset(recipe.checkpoints.dev_utterances),
        recipe.network.chunk_size,
        targets,
        texts,
    )


def _training_speech(recipe: Recipe) -> Speech:
    return load_training_speech(
        recipe.data,
        as_audio=recipe.waveform is not None,
        features=feature_config(recipe),
        untranscribed=() if recipe.distil is None else recipe.distil.untranscribed_manifests,
        language=recipe.network.language,
    )


def _some_features(recipe: Recipe, speech: Speech) -> Iterator[Features]:
    """Enough for mean and variance; fewer where they are computed for nothing else."""
    stride = CMVN_STRIDE
    if recipe.waveform is not None:
        stride = max(stride, len(speech) // MOST_COMPUTED)
    return (speech.features(index) for index in range(0, len(speech), stride))


def _teach(
    recipe: Recipe, speech: Speech, clips: Clips, leads: Leads, device: torch.device | None
) -> tuple[Targets, WrittenTexts | None]:
    """What the recipe's teacher hears in recordings, and what it writes where a decoder learns."""
    assert recipe.distil is not None
    teacher = build_teacher(recipe, recipe.distil, device or torch.device("cpu"))
    targets = build_targets(recipe, speech, clips, leads, teacher)
    learns = recipe.distil.decoder_weight > 0
    return targets, build_texts(recipe, speech, teacher) if learns else None


def _sampler(recipe: Recipe, speech: Speech) -> Sampler:
    return Sampler(
        speech.utterances,
        recipe.data,
        batch_seconds=recipe.optimiser.batch_seconds,
        first_batch_seconds=recipe.optimiser.first_batch_seconds,
        padding_seconds=recipe.augment.pad_seconds / 2,
        seed=recipe.optimiser.seed,
        untranscribed=recipe.distil is not None and recipe.distil.alone,
    )
