"""`earshot train`, on words that are tones."""

import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.models.checkpoints.checkpoint import load_model
from earshot.service.commands.cli import USAGE_ERROR, main
from earshot.service.commands.train import MORE_TO_DO

RATE_HZ = 16_000
TONES_HZ = {"low": 300.0, "mid": 1200.0, "high": 4000.0}
RECIPE = """
name = "tones"
[data]
train_manifest = "tones.tsv"
dev_manifest = "tones.tsv"
noise_manifest = "noise.tsv"
work_dir = "work"
draws_first_epoch = { tones = 1.0 }
draws_per_epoch = { tones = 1.0 }
[units]
tokens = 10
[network]
output_size = 16
linear_units = 16
num_blocks = 1
decoder_linear_units = 16
decoder_blocks = 1
[augment]
from_step = 2
spec_augment_from_step = 3
[waveform]
simulated_rooms = 2
[optimiser]
precision = "bfloat16"
warmup_steps = 1
decay_from_step = 2
total_steps = 4
[checkpoints]
save_every = 2
"""


def write_table(path: Path, *rows: str) -> None:
    path.write_text("\n".join(row.replace(" | ", "\t") for row in rows) + "\n", encoding="utf-8")


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("EARSHOT_DATA", raising=False)
    time_s = np.arange(RATE_HZ // 2) / RATE_HZ
    rows = []
    for word, frequency_hz in TONES_HZ.items():
        tone = 0.3 * np.sin(2 * np.pi * frequency_hz * time_s)
        soundfile.write(tmp_path / f"{word}.flac", tone, RATE_HZ)
        rows.append(f"{word}.flac | tones | piano | 0.5 | {word}")
    write_table(tmp_path / "tones.tsv", "path | corpus | speaker | seconds | text", *rows)
    noise = "low.flac | noise | hum | 0.5"
    write_table(tmp_path / "noise.tsv", "path | kind | set | seconds", noise)
    path = tmp_path / "tones.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


def train(*words: object) -> int:
    return main(["train", *map(str, words)])


def test_a_recipe_becomes_a_model(recipe: Path, tmp_path: Path) -> None:
    assert train(recipe, "--device", "cpu", "--export", tmp_path / "model") == 0
    assert load_model(tmp_path / "model").name == "tones"
    assert (tmp_path / "work" / "runs" / "tones" / "log.jsonl").is_file()


def test_the_same_command_goes_on(recipe: Path, tmp_path: Path, capsys) -> None:
    words = (recipe, "--run", tmp_path / "run", "--device", "cpu")
    assert train(*words, "--minutes", 0) == MORE_TO_DO
    assert "stands at update 0" in capsys.readouterr().err
    assert train(*words) == 0
    assert train(*words) == 0
    assert "from update 4 on cpu" in capsys.readouterr().err


def move_data(folder: Path, here: str, there: str) -> Path:
    """The tones and their tables go from one folder to another."""
    (folder / there).mkdir()
    for path in [*(folder / here).glob("*.tsv"), *(folder / here).glob("*.flac")]:
        path.rename(folder / there / path.name)
    return folder / there


def test_a_run_goes_on_where_its_data_has_moved(recipe: Path, tmp_path: Path, capsys) -> None:
    words = (recipe, "--device", "cpu")
    data = move_data(tmp_path, ".", "here")
    assert train(*words, "--data", data) == 0
    data = move_data(tmp_path, "here", "there")
    assert train(*words, "--data", data) == 0
    assert "from update 4 on cpu" in capsys.readouterr().err


def test_the_environment_says_where_the_data_lies(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EARSHOT_DATA", str(move_data(tmp_path, ".", "here")))
    assert train(recipe, "--device", "cpu") == 0


def test_data_that_is_not_there_name_the_flag(recipe: Path, tmp_path: Path, capsys) -> None:
    assert train(recipe, "--device", "cpu", "--data", tmp_path / "none") == USAGE_ERROR
    said = capsys.readouterr().err
    assert "data.train_manifest" in said
    assert "--data" in said


def test_a_recipe_that_is_not_there_is_named(tmp_path: Path, capsys) -> None:
    assert train(tmp_path / "none.toml") == USAGE_ERROR
    assert "none.toml" in capsys.readouterr().err


def test_more_units_than_the_texts_have_are_refused(recipe: Path, capsys) -> None:
    recipe.write_text(RECIPE.replace("tokens = 10", "tokens = 500"), encoding="utf-8")
    assert train(recipe) == USAGE_ERROR
    assert "units.tokens" in capsys.readouterr().err


def test_a_start_that_is_not_there_or_broken_is_named(recipe: Path, tmp_path: Path, capsys) -> None:
    recipe.write_text(RECIPE + '[start]\nmodel = "first"\n', encoding="utf-8")
    assert train(recipe) == USAGE_ERROR
    assert "start.model: there is no model" in capsys.readouterr().err
    (tmp_path / "first").mkdir()
    assert train(recipe, "--device", "cpu") == USAGE_ERROR
    assert "units.txt" in capsys.readouterr().err


def test_what_training_needs_is_named(
    recipe: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("earshot.training")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jiwer", None)
    assert train(recipe) == USAGE_ERROR
    assert "needs jiwer: `pip install -e '.[train]'` in the repository" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--run", "--export"])
def test_a_file_where_a_folder_should_be_is_told_before_the_work(
    recipe: Path, tmp_path: Path, capsys, flag: str
) -> None:
    (tmp_path / "taken").write_text("")
    assert train(recipe, "--device", "cpu", flag, tmp_path / "taken") == USAGE_ERROR
    assert "cannot write to a folder" in capsys.readouterr().err
    assert not (tmp_path / "work" / "runs" / "tones" / "log.jsonl").exists()
