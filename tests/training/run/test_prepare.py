"""What is made before a run, and when it is made anew."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.training.data.speech import Speech, load_dev_speech, load_training_speech
from earshot.training.errors import CorpusError, RecipeError
from earshot.training.recipe.config import CORPUS_KEYS, Recipe, UnitsConfig
from earshot.training.run.prepare import make_units, prepare, units_folder

MANIFESTS = ("train_manifest", "dev_manifest", "noise_manifest")


@pytest.fixture
def recipe(tone_recipe: Recipe, tmp_path: Path) -> Recipe:
    return replace(tone_recipe, data=replace(tone_recipe.data, work_dir=tmp_path))


@pytest.fixture
def speech(recipe: Recipe) -> Speech:
    return load_training_speech(recipe.data)


def test_units_are_kept_as_long_as_nothing_changes(recipe: Recipe, speech: Speech) -> None:
    make_units(recipe, speech)
    made = units_folder(recipe) / "bpe.model"
    before = made.stat().st_mtime_ns
    make_units(recipe, speech)
    assert made.stat().st_mtime_ns == before


def test_another_number_of_units_is_made(recipe: Recipe, speech: Speech) -> None:
    before = make_units(recipe, speech).vocab_size
    fewer = replace(recipe, units=UnitsConfig(recipe.units.tokens - 1))
    assert make_units(fewer, speech).vocab_size == before - 1


def test_other_texts_have_other_units(recipe: Recipe, speech: Speech) -> None:
    before = make_units(recipe, speech).units.symbols
    other = [replace(each, text=each.text.replace("low", "lax")) for each in speech.utterances]
    after = make_units(recipe, Speech(other, speech.sources)).units.symbols
    assert "x" in "".join(after)
    assert "x" not in "".join(before)


def test_training_hears_no_corpus_that_is_put_aside(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("earshot.training.corpus.put_aside.CORPORA", frozenset({"clips"}))
    with pytest.raises(CorpusError, match="not for training: clips"):
        load_training_speech(recipe.data)


@pytest.mark.parametrize("key", CORPUS_KEYS)
def test_a_corpus_that_no_manifest_has_is_named(recipe: Recipe, key: str) -> None:
    named = {"clips": 1.0, "clipz": 9.0} if key.startswith("draws") else ("clips", "clipz")
    data = replace(recipe.data, **{key: named})
    with pytest.raises(RecipeError, match=rf"data\.{key}: .* clipz; there are clips, sentences"):
        load_training_speech(data)


@pytest.mark.parametrize("name", ["train", "noise"])
def test_a_recording_without_a_frame_is_named(recipe: Recipe, tmp_path: Path, name: str) -> None:
    manifest = getattr(recipe.data, f"{name}_manifest")
    shutil.copytree(manifest.parent, tmp_path / "data", ignore=shutil.ignore_patterns("work"))
    here = {key: tmp_path / "data" / f"{key.split('_')[0]}.tsv" for key in MANIFESTS}
    short = {"train": "train-3.flac", "noise": "noise.flac"}[name]
    soundfile.write(tmp_path / "data" / short, np.full(300, 0.1), 16_000)
    changed = replace(recipe, data=replace(recipe.data, **here))
    with pytest.raises(CorpusError, match=rf"{short} is too short"):
        prepare(changed)


def test_batches_are_of_recordings_at_all_speeds(recipe: Recipe) -> None:
    data = replace(recipe.data, speeds=(0.8, 1.0, 1.25))
    augment = replace(recipe.augment, from_step=0, pad_probability=0.0)
    prepared = prepare(replace(recipe, data=data, augment=augment))
    [clip, *_] = prepared.sampler.batches(2)
    lengths = set()
    for seed in range(30):
        batch = prepared.builder.build(np.random.default_rng(seed), clip[:1], step=1)
        lengths.add(round(batch.seconds / 0.05))
    assert len(lengths) >= 3


def test_what_is_put_aside_is_not_looked_at(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = frozenset({"clips/dev-0.flac"})
    monkeypatch.setattr("earshot.training.corpus.put_aside.put_aside", lambda: aside)
    seen = [each.path.name for each in load_dev_speech(recipe.data).utterances]
    kept = [each.path.name for each in load_dev_speech(recipe.data, aside=True).utterances]
    assert (seen, kept) == (["dev-1.flac", "dev-2.flac"], ["dev-0.flac"])
