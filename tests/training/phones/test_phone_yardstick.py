"""What training logs of phones: the loss that it descends, and errors a graph would make."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from earshot.training.recipe.config import PhoneConfig, Recipe
from earshot.training.recipe.recipe_model import build_model
from earshot.training.run.prepare import prepare
from earshot.training.run.trainer import LOG_FILE, Trainer


def test_a_run_that_hears_phones_logs_their_loss_and_errors(
    with_steps: Callable[[int, int], Recipe], lexicon: Path, tmp_path: Path
) -> None:
    phones = PhoneConfig(lexicon, sequence_from_step=0, weight=0.9)
    recipe = replace(with_steps(40, 20), phones=phones)
    prepared = prepare(recipe)
    model = build_model(recipe, prepared.tokenizer.vocab_size, prepared.mean, prepared.istd)
    Trainer(recipe, prepared, model, tmp_path).run()
    rows = [json.loads(line) for line in (tmp_path / LOG_FILE).read_text().splitlines()]
    first, last = (row for row in rows if "dev_loss" in row)
    assert last["dev_loss"] < first["dev_loss"]
    assert 0.0 <= last["dev_phone_errors"] <= 1.0
    assert {"dev_loss_clips", "dev_phone_errors_sentences"} <= last.keys()
    assert "dev_wer" not in last
