"""What is made before a run, and when it is made anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from models.training.config import Recipe, UnitsConfig
from models.training.prepare import make_units, units_folder
from models.training.speech import Speech, load_training_speech


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
    fewer = replace(recipe, units=UnitsConfig(recipe.units.pieces - 1))
    assert make_units(fewer, speech).vocab_size == before - 1


def test_other_texts_have_other_units(recipe: Recipe, speech: Speech) -> None:
    before = make_units(recipe, speech).units.symbols
    other = [replace(each, text=each.text.replace("low", "lax")) for each in speech.utterances]
    after = make_units(recipe, Speech(other, speech.sources)).units.symbols
    assert "x" in "".join(after)
    assert "x" not in "".join(before)
