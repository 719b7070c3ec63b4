"""Where the data of a recipe lies: where the command says, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from earshot.training.__main__ import main
from earshot.training.errors import CorpusError
from earshot.training.recipe.config import load_recipe
from earshot.training.recipe.data_root import data_root
from earshot.training.run.run import open_run
from earshot.training.stages.stage_file import load_stages

RECIPE = """
name = "small"
[data]
train_manifest = "speech/train.tsv"
dev_manifest = "speech/dev.tsv"
noise_manifest = "noise/noise.tsv"
work_dir = "../work"
more_manifests = ["../made/manifest.tsv"]
draws_first_epoch = { digits = 2.0 }
draws_per_epoch = { digits = 1.0 }
[start]
model = "../model"
[phones]
lexicon = "text/words"
letters = "../letters"
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "recipes" / "small.toml"
    path.parent.mkdir()
    path.write_text(RECIPE, encoding="utf-8")
    return path


def test_what_a_recipe_hears_is_relative_to_the_data(recipe: Path, tmp_path: Path) -> None:
    read = load_recipe(recipe, tmp_path / "data")
    assert read.phones is not None
    assert read.data.train_manifest == tmp_path / "data" / "speech" / "train.tsv"
    assert read.data.dev_manifest == tmp_path / "data" / "speech" / "dev.tsv"
    assert read.data.noise_manifest == tmp_path / "data" / "noise" / "noise.tsv"
    assert read.phones.lexicon == tmp_path / "data" / "text" / "words"


def test_what_was_made_is_relative_to_the_recipe(recipe: Path, tmp_path: Path) -> None:
    read = load_recipe(recipe, tmp_path / "data")
    assert read.start is not None
    assert read.phones is not None
    assert read.data.work_dir == tmp_path / "work"
    assert read.data.more_manifests == (tmp_path / "made" / "manifest.tsv",)
    assert read.start.model == tmp_path / "model"
    assert read.phones.letters == tmp_path / "letters"


def test_a_root_is_relative_to_where_the_command_runs(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    read = load_recipe(recipe, Path("data"))
    assert read.data.train_manifest == tmp_path / "data" / "speech" / "train.tsv"


def test_without_a_root_data_lies_beside_the_recipe(recipe: Path) -> None:
    assert load_recipe(recipe).data.train_manifest == recipe.parent / "speech" / "train.tsv"


def test_the_command_line_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EARSHOT_DATA", raising=False)
    assert data_root(None) is None
    monkeypatch.setenv("EARSHOT_DATA", "/there")
    assert data_root(None) == Path("/there")
    assert data_root(Path("/here")) == Path("/here")
    monkeypatch.setenv("EARSHOT_DATA", "")
    assert data_root(None) is None


@pytest.mark.parametrize("key", ["train_manifest", "dev_manifest", "noise_manifest"])
def test_a_run_without_its_data_names_the_flag(tone_recipe, tmp_path: Path, key: str) -> None:
    gone = tmp_path / "gone.tsv"
    recipe = replace(tone_recipe, data=replace(tone_recipe.data, **{key: gone}))
    with pytest.raises(CorpusError, match=rf"data\.{key}: there is no {gone}: .*--data"):
        open_run(recipe, tmp_path / "run", torch.device("cpu"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["evaluate", "--model", "model"], "data.dev_manifest"),
        (["export", "--output", "model"], "phones.lexicon"),
    ],
)
def test_every_action_of_a_recipe_names_the_flag(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], named: str
) -> None:
    action, *more = words
    assert main([action, str(recipe), "--data", str(tmp_path / "data"), *more]) == 1
    said = capsys.readouterr().err
    assert f"{named}: there is no {tmp_path / 'data'}" in said
    assert "--data" in said


def test_no_recipe_that_comes_along_knows_where_the_data_lies(repository_dir: Path) -> None:
    recipes = [*(repository_dir / "training").rglob("*.toml")]
    assert len(recipes) >= 14
    assert [path.name for path in recipes if "shared" in path.read_text("utf-8")] == []
    for path in (repository_dir / "training" / "recipes").glob("*.toml"):
        stages = load_stages(path, Path("/data"))
        for _, file in [each for stage in stages for each in stage.data_files]:
            assert file.is_relative_to("/data")
