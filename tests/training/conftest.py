"""A tiny corpus of tones that stand for words, with everything that a training run needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.training.recipe.checkpoint_config import CheckpointConfig
from earshot.training.recipe.config import (
    AugmentConfig,
    DataConfig,
    NetworkConfig,
    Recipe,
    UnitsConfig,
)
from earshot.training.recipe.optimiser_config import OptimiserConfig
from earshot.training.run.prepare import Prepared, prepare

RATE_HZ = 16_000
TONES_HZ = {"low": 300.0, "mid": 1200.0, "high": 4000.0}
LEXICON = """;;; made for the test
low L OW1 # not high
high HH AY1
high(2) HH EH1
high(3) HH AY2
mid M IH1 D
"""
COLUMNS = ("path", "corpus", "speaker", "seconds", "text", "slots")


def _tones(words: list[str]) -> np.ndarray:
    """0.3 s of a tone for each word."""
    time_s = np.arange(int(0.3 * RATE_HZ)) / RATE_HZ
    return np.concatenate([0.3 * np.sin(2 * np.pi * TONES_HZ[word] * time_s) for word in words])


def _write_corpus(folder: Path, name: str, sentences: list[str]) -> Path:
    rows = ["\t".join(COLUMNS)]
    for number, text in enumerate(sentences):
        samples = _tones(text.split())
        path = f"{name}-{number}.flac"
        soundfile.write(folder / path, samples, RATE_HZ)
        corpus = "clips" if " " not in text else "sentences"
        rows.append(f"{path}\t{corpus}\tspeaker{number % 2}\t{len(samples) / RATE_HZ}\t{text}\t")
    manifest = folder / f"{name}.tsv"
    manifest.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return manifest


def _write_noise(folder: Path) -> Path:
    samples = np.random.default_rng(7).normal(0, 0.01, RATE_HZ)
    soundfile.write(folder / "noise.flac", samples, RATE_HZ)
    manifest = folder / "noise.tsv"
    manifest.write_text(
        "path\tkind\tset\tclass\tseconds\tlicence\nnoise.flac\tnoise\ttest\thiss\t1.0\tnone\n",
        encoding="utf-8",
    )
    return manifest


@pytest.fixture(scope="session")
def tone_data(tmp_path_factory: pytest.TempPathFactory) -> DataConfig:
    """Eight utterances to train on, three of them to measure on."""
    folder = tmp_path_factory.mktemp("tones")
    sentences = ["low", "mid", "high", "low high", "mid low", "high mid", "low mid", "high low"]
    return DataConfig(
        train_manifest=_write_corpus(folder, "train", sentences),
        dev_manifest=_write_corpus(folder, "dev", sentences[2:5]),
        noise_manifest=_write_noise(folder),
        work_dir=folder / "work",
        draws_first_epoch={"clips": 2.0, "sentences": 1.0},
        draws_per_epoch={"clips": 1.0, "sentences": 1.0},
        joined_corpora=("clips",),
    )


@pytest.fixture(scope="session")
def tone_recipe(tone_data: DataConfig) -> Recipe:
    """A network of seconds for the tones: no augmentation, no dropout."""
    return Recipe(
        name="tones",
        data=tone_data,
        augment=AugmentConfig(from_step=10_000, spec_augment_from_step=10_000, pad_seconds=0.1),
        units=UnitsConfig(tokens=12),
        network=NetworkConfig(
            input_layer="conv1d4",
            output_size=32,
            attention_heads=2,
            linear_units=64,
            num_blocks=1,
            cnn_module_kernel=5,
            decoder_linear_units=32,
            decoder_blocks=1,
            decoder_r_blocks=1,
            dropout_rate=0.0,
            chunk_size=8,
        ),
        optimiser=OptimiserConfig(
            peak_rate=5e-3,
            warmup_steps=10,
            decay_from_step=150,
            total_steps=240,
            batch_seconds=2.0,
            first_batch_seconds=2.0,
            ctc_only_steps=150,
        ),
        checkpoints=CheckpointConfig(log_every=5, save_every=40, dev_utterances=6, average=2),
    )


@pytest.fixture
def with_steps(tone_recipe: Recipe) -> Callable[[int, int], Recipe]:
    """The tones' recipe with another length and another interval between checkpoints."""

    def change(total_steps: int, save_every: int) -> Recipe:
        optimiser = replace(
            tone_recipe.optimiser, decay_from_step=total_steps - 1, total_steps=total_steps
        )
        checkpoints = replace(tone_recipe.checkpoints, save_every=save_every)
        return replace(tone_recipe, optimiser=optimiser, checkpoints=checkpoints)

    return change


@pytest.fixture
def with_changes() -> Callable[[Recipe, Mapping[str, object]], Recipe]:
    """A recipe with other sections, or with other values in how it learns and what it keeps."""

    def changed(recipe: Recipe, changes: Mapping[str, object]) -> Recipe:
        sections = dict(changes)
        for name in ("optimiser", "checkpoints"):
            section = getattr(recipe, name)
            inner = {key: each for key, each in changes.items() if hasattr(section, key)}
            if inner:
                sections = {name: replace(section, **inner)}
        return replace(recipe, **sections)

    return changed


@pytest.fixture
def lexicon(tmp_path: Path) -> Path:
    """How the tones sound, in the format of the CMU dictionary."""
    path = tmp_path / "lexicon"
    path.write_text(LEXICON, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def prepared(tone_recipe: Recipe) -> Prepared:
    """The recipe's speech, units and features."""
    return prepare(tone_recipe)
