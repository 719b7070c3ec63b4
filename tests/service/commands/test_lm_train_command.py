"""`earshot lm train`, on a text of a few words."""

from pathlib import Path

import pytest

from earshot.models.neural_lm.lm_file import load_neural_lm
from earshot.service.commands.cli import USAGE_ERROR, main
from earshot.service.commands.train import MORE_TO_DO

RECIPE = """
name = "words"
work_dir = "run"
held_out = ["text.txt"]
[[texts]]
path = "text.txt"
share = 1.0
[network]
vocab_size = 16
size = 16
heads = 2
blocks = 1
feed_forward = 16
context = 30
[optimiser]
batch = 4
warmup_steps = 1
decay_from_step = 2
total_steps = 4
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    lines = [f"the {a} and the {b}" for a in ("cat", "dog", "fox") for b in ("hen", "goose")]
    (tmp_path / "text.txt").write_text("\n".join(lines * 9))
    (tmp_path / "words.toml").write_text(RECIPE)
    return tmp_path / "words.toml"


def train(recipe: Path, *more: object) -> int:
    out = recipe.with_name("out.safetensors")
    return main(["lm", "train", str(recipe), "--out", str(out), *map(str, more)])


def test_it_writes_a_model_that_scores_sentences(capsys, recipe: Path) -> None:
    assert train(recipe) == 0
    said = capsys.readouterr().err
    assert "words: from update 0" in said
    assert "text.txt: perplexity" in said
    assert "stands at update 4" in said
    [[score]] = load_neural_lm(recipe.with_name("out.safetensors")).score([[["the", "cat"]]])
    assert len(score.words) == 2


def test_a_run_that_is_cut_short_goes_on(capsys, recipe: Path) -> None:
    assert train(recipe, "--minutes", 0) == MORE_TO_DO
    assert train(recipe) == 0
    assert "stands at update 4" in capsys.readouterr().err


def test_what_is_wrong_is_told_in_a_line(capsys, recipe: Path) -> None:
    recipe.write_text(RECIPE.replace("share = 1.0", "share = -1.0"))
    assert train(recipe) == USAGE_ERROR
    assert "share: has to be above 0" in capsys.readouterr().err
    recipe.write_text(RECIPE.replace('path = "text.txt"', 'path = "none.txt"'))
    assert train(recipe) == USAGE_ERROR
    assert "none.txt" in capsys.readouterr().err
