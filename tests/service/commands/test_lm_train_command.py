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
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("EARSHOT_DATA", raising=False)
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


def test_texts_lie_where_the_command_says(capsys, recipe: Path, tmp_path: Path) -> None:
    for here, there in (("", "here"), ("here", "there")):  # a run goes on where they have moved
        (tmp_path / there).mkdir()
        (tmp_path / here / "text.txt").rename(tmp_path / there / "text.txt")
        assert train(recipe, "--data", tmp_path / there) == 0
    assert "from update 4 on" in capsys.readouterr().err
    assert (tmp_path / "run" / "state.pt").is_file()


@pytest.mark.parametrize(("old", "key"), [('path = "', "texts.path"), ('["', "held_out")])
def test_texts_that_are_not_there_name_the_flag(capsys, recipe: Path, old: str, key: str) -> None:
    recipe.write_text(RECIPE.replace(f"{old}text.txt", f"{old}none.txt"))
    assert train(recipe) == USAGE_ERROR
    said = capsys.readouterr().err
    assert f"{key}: there is no {recipe.with_name('none.txt')}" in said
    assert "--data" in said


def test_what_is_wrong_is_told_in_a_line(capsys, recipe: Path) -> None:
    recipe.write_text(RECIPE.replace("share = 1.0", "share = -1.0"))
    assert train(recipe) == USAGE_ERROR
    assert "share: has to be above 0" in capsys.readouterr().err
    recipe.write_text(RECIPE.replace('path = "text.txt"', 'path = "none.txt"'))
    assert train(recipe) == USAGE_ERROR
    assert "none.txt" in capsys.readouterr().err
