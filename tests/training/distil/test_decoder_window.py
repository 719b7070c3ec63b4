"""A decoder hears silent windows until a recipe teaches it with segments as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from earshot.models.checkpoints.own_format import save_model
from earshot.models.checkpoints.whisper.checkpoint import read_whisper
from earshot.models.tokenizer import CharTokenizer
from earshot.models.units import UnitTable
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.recipe.config import Recipe, StartConfig
from earshot.training.recipe.recipe_model import recipe_decoding, start_model

UNITS = UnitTable.parse("".join(f"{s} {i}\n" for i, s in enumerate("_abcdefghij")), "letters")


def untaught(recipe: Recipe) -> Recipe:
    """The recipe with the decoder as it was published."""
    assert recipe.distil is not None
    return replace(recipe, distil=replace(recipe.distil, decoder_weight=0.0))


def window_of(recipe: Recipe) -> int:
    return start_model(recipe, 11).config.decoder.window_frames


def started_from(recipe: Recipe, folder: Path) -> StartConfig:
    """The start of a recipe that goes on from another."""
    decoding = recipe_decoding(recipe)
    assert decoding is not None
    writer, model = WhisperTokenizer(decoding.tables), start_model(recipe, 11)
    save_model(folder, model, CharTokenizer(UNITS), "start", dtype=torch.float32, writer=writer)
    return StartConfig(model=folder)


def test_as_published_it_has_whispers_window(decoder_recipe: Recipe) -> None:
    recipe = untaught(decoder_recipe)
    frames = read_whisper(recipe.start.whisper).dims.audio_positions
    assert window_of(recipe) == frames // 2
    unpooled = replace(recipe, network=replace(recipe.network, pool_after_block=None))
    assert window_of(unpooled) == frames


def test_taught_with_segments_it_has_none_and_keeps_none(
    decoder_recipe: Recipe, tmp_path: Path
) -> None:
    assert window_of(decoder_recipe) == 0
    start = started_from(decoder_recipe, tmp_path / "taught")
    assert window_of(replace(untaught(decoder_recipe), start=start)) == 0


def test_a_later_stage_keeps_the_window_of_an_untaught_one(
    decoder_recipe: Recipe, tmp_path: Path
) -> None:
    recipe = untaught(decoder_recipe)
    start = started_from(recipe, tmp_path / "untaught")
    assert window_of(replace(recipe, start=start)) == window_of(recipe) > 0
    assert window_of(replace(decoder_recipe, start=start)) == 0
