"""Whisper's decoder hears silent windows behind segments, where it is taught too."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from earshot.models.checkpoints.own_format import save_model
from earshot.models.checkpoints.whisper.checkpoint import read_whisper
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.data.batch import CleanSound
from earshot.training.distil.decoder_loss import DecoderLoss
from earshot.training.distil.targets import Taught
from earshot.training.distil.written_texts import WrittenTexts
from earshot.training.recipe.config import Recipe, StartConfig
from earshot.training.recipe.recipe_model import recipe_decoding, start_model
from earshot.training.run.run import open_run

UNITS = UnitTable.parse("".join(f"{s} {i}\n" for i, s in enumerate("_abcdefghij")), "letters")


def window_of(recipe: Recipe) -> int:
    return start_model(recipe, 11).config.decoder.window_frames


def started_from(recipe: Recipe, folder: Path) -> StartConfig:
    """The start of a recipe that goes on from another."""
    decoding = recipe_decoding(recipe)
    assert decoding is not None
    writer, model = WhisperTokenizer(decoding.tables), start_model(recipe, 11)
    save_model(folder, model, CharTokenizer(UNITS), "start", dtype=torch.float32, writer=writer)
    return StartConfig(model=folder)


def test_it_has_whispers_window(decoder_recipe: Recipe) -> None:
    frames = read_whisper(decoder_recipe.start.whisper).dims.audio_positions
    assert window_of(decoder_recipe) == frames // 2
    unpooled = replace(decoder_recipe.network, pool_after_block=None)
    assert window_of(replace(decoder_recipe, network=unpooled)) == frames


@pytest.mark.parametrize("frames", [0, 7])
def test_a_later_stage_keeps_what_it_starts_from(
    decoder_recipe: Recipe, tmp_path: Path, frames: int
) -> None:
    start = started_from(decoder_recipe, tmp_path / "start")
    header = json.loads((start.model / "config.json").read_text())
    header["model"]["decoder"]["window_frames"] = frames
    (start.model / "config.json").write_text(json.dumps(header))
    assert window_of(replace(decoder_recipe, start=start)) == frames


def as_published(recipe: Recipe) -> Recipe:
    """The recipe with a decoder that does not learn, though its loss counts."""
    rates = {"encoder": 2e-3, "heads": 2e-3, "decoder": 0.0}
    return replace(recipe, optimiser=replace(recipe.optimiser, group_rates=rates))


class Cats:
    """All texts are the same."""

    def of(self, indices, taught):
        return [(5, 6) for _ in indices]


def test_the_loss_is_of_frames_with_silence_behind_them(decoder_recipe: Recipe) -> None:
    model = start_model(as_published(decoder_recipe), 11)
    config, size = model.config.decoder, model.config.encoder.output_size
    torch.manual_seed(8)
    silence, frames = torch.randn(12, size), torch.randn(2, 9, size)
    loss = DecoderLoss(model, Cats(), 10, silence)
    loss._student.frames = frames
    clean = [CleanSound(torch.zeros(count), (row,), 1.0) for row, count in enumerate((40, 75))]
    taught = Taught(frames, torch.tensor([9, 9]))
    found = loss.of(clean, taught, torch.tensor([9, 9]), tail_samples=20)
    tokens = torch.tensor([[*config.prompt, 5, 6, config.end]] * 2)
    memory = torch.stack(
        [torch.cat((frames[row, :n], silence[n:])) for row, n in enumerate((6, 9))]
    )
    logits = model.decoder(memory, torch.tensor([12, 12]), tokens[:, :-1])
    spoken = logits[:, len(config.prompt) - 1 :]
    expected = functional.cross_entropy(spoken.flatten(0, 1), tokens[:, -3:].flatten())
    assert float(found.detach()) == pytest.approx(float(expected.detach()), abs=1e-5)


def test_a_decoder_without_a_rate_teaches_the_encoder_and_stays(
    decoder_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WrittenTexts, "_usable", lambda *call: "cat")  # a random decoder agrees
    recipe = as_published(decoder_recipe)
    trainer = open_run(recipe, tmp_path / "run", torch.device("cpu"))
    before = {name: each.clone() for name, each in trainer.model.state_dict().items()}
    trainer.run(stop_at_step=6)
    after = trainer.model.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert any(name.startswith("encoder.") for name in moved)
    assert not any(name.startswith("decoder.") for name in moved)
