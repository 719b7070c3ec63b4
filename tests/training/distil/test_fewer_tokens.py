"""Recipes whose decoder has a part of Whisper's tokens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.own_format import save_model
from earshot.models.checkpoints.whisper.checkpoint import read_whisper
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_tokenizer.files import read_tables
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.distil.written_texts import WrittenTexts
from earshot.training.errors import RecipeError
from earshot.training.recipe.config import Recipe, StartConfig
from earshot.training.recipe.recipe_model import recipe_decoding, start_model
from earshot.training.run.export import export
from earshot.training.run.run import open_run
from earshot.training.run.trainer import LOG_FILE

CPU = torch.device("cpu")
EMBEDDING = "decoder.token_embedding.weight"
UNITS = UnitTable.parse("".join(f"{s} {i}\n" for i, s in enumerate("_abcdefghij")), "letters")


@pytest.fixture
def recipe(decoder_recipe: Recipe) -> Recipe:
    return decoder_recipe


def with_tokens(recipe: Recipe, count: int | None, start: Path | None = None) -> Recipe:
    changed = replace(recipe, network=replace(recipe.network, decoder_tokens=count))
    return changed if start is None else replace(changed, start=StartConfig(model=start))


def saved(recipe: Recipe, folder: Path, seed: int) -> U2Model:
    """A model of the recipe whose decoder has learnt something, as `export` writes it."""
    model = start_model(recipe, 11)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.decoder.parameters():
            weight += 0.1 * torch.randn(weight.shape, generator=generator)
    decoding = recipe_decoding(recipe)
    assert decoding is not None
    writer = WhisperTokenizer(decoding.tables)
    save_model(folder, model, CharTokenizer(UNITS), "start", dtype=torch.float32, writer=writer)
    return model


def test_a_decoder_with_fewer_tokens_has_their_rows_of_whispers(recipe: Recipe) -> None:
    decoding = recipe_decoding(with_tokens(recipe, 270))
    assert decoding is not None
    ours = start_model(with_tokens(recipe, 270), 11).state_dict()[EMBEDDING]
    theirs = read_whisper(recipe.start.whisper).tensors[EMBEDDING]
    assert len(ours) == decoding.config.vocab_size == 275
    whole = read_tables(recipe.start.whisper.parent)
    numbers = {**whole.vocabulary, **whole.special}
    for text, token in {**decoding.tables.vocabulary, **decoding.tables.special}.items():
        assert torch.equal(ours[token], theirs[numbers[text]])
    assert numbers["Ġcat"] in decoding.rows


def test_a_run_learns_texts_in_its_tokens_and_they_lie_beside_the_model(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WrittenTexts, "_usable", lambda *call: "cat")  # a random decoder agrees
    recipe = with_tokens(recipe, 270)
    open_run(recipe, tmp_path / "run", CPU).run(stop_at_step=60)
    log = [json.loads(line) for line in (tmp_path / "run" / LOG_FILE).read_text().splitlines()]
    told = [line["decoder_per_token"] for line in log if "l2" in line]
    assert told[-1] < 0.5 * told[0]
    export(recipe, tmp_path / "run", tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.writer is not None
    assert loaded.writer.size == u2_of(loaded).config.decoder.vocab_size == 275


def test_a_start_with_all_tokens_is_cut(recipe: Recipe, tmp_path: Path) -> None:
    began = saved(recipe, tmp_path / "first", 1).state_dict()
    cut = with_tokens(recipe, 270, tmp_path / "first")
    decoding, weights = recipe_decoding(cut), start_model(cut, 11).state_dict()
    assert torch.equal(weights[EMBEDDING], began[EMBEDDING][list(decoding.rows)])
    assert torch.equal(weights["decoder.ln.weight"], began["decoder.ln.weight"])


@pytest.mark.parametrize("said", [270, None])
def test_a_start_that_is_cut_stays_so(recipe: Recipe, tmp_path: Path, said: int | None) -> None:
    first = with_tokens(recipe, 270)
    began = saved(first, tmp_path / "first", 1).state_dict()
    recipe = replace(recipe, network=replace(recipe.network, decoder_texts=()))
    second = with_tokens(recipe, said, tmp_path / "first")
    assert torch.equal(start_model(second, 11).state_dict()[EMBEDDING], began[EMBEDDING])
    assert recipe_decoding(second).tables.vocabulary == recipe_decoding(first).tables.vocabulary


def test_a_start_with_another_part_is_an_error(recipe: Recipe, tmp_path: Path) -> None:
    saved(with_tokens(recipe, 270), tmp_path / "first", 1)
    with pytest.raises(RecipeError, match=r"decoder_tokens: .*first has 270"):
        start_model(with_tokens(recipe, 280, tmp_path / "first"), 11)


def test_a_start_that_knows_another_language_is_an_error(recipe: Recipe, tmp_path: Path) -> None:
    saved(with_tokens(recipe, 270), tmp_path / "first", 1)
    german = replace(recipe, network=replace(recipe.network, language="de"))
    with pytest.raises(RecipeError, match=r"network\.language"):
        start_model(with_tokens(german, None, tmp_path / "first"), 11)


@pytest.mark.parametrize(("count", "named"), [(100, "bytes"), (400, "more than")])
def test_numbers_that_cannot_be_are_errors(recipe: Recipe, count: int, named: str) -> None:
    with pytest.raises(RecipeError, match=rf"network\.decoder_tokens: .*{named}"):
        start_model(with_tokens(recipe, count), 11)


def test_without_texts_nobody_knows_which(recipe: Recipe) -> None:
    recipe = replace(recipe, network=replace(recipe.network, decoder_texts=()))
    with pytest.raises(RecipeError, match="needs decoder_texts"):
        start_model(with_tokens(recipe, 270), 11)
