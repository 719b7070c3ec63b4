"""The way to a host and back: what a recipe needs, in pieces; a model, in pieces."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from earshot.models.checkpoints.checkpoint import load_model
from earshot.training.__main__ import MORE_TO_COME, main
from earshot.training.errors import RecipeError
from earshot.training.host import pack, unpack
from earshot.training.inventory import common_root, packing_list
from earshot.training.recipe.config import DataConfig, load_recipe

RECIPE = """
name = "tones"
[data]
train_manifest = "../../speech/train.tsv"
dev_manifest = "../../speech/dev.tsv"
noise_manifest = "../../speech/noise.tsv"
work_dir = "../build"
draws_first_epoch = { clips = 1.0 }
draws_per_epoch = { clips = 1.0, sentences = 1.0 }
[units]
pieces = 12
[network]
output_size = 16
linear_units = 16
num_blocks = 1
decoder_linear_units = 16
decoder_blocks = 1
[optimiser]
warmup_steps = 1
decay_from_step = 5
total_steps = 6
[checkpoints]
save_every = 2
average = 2
"""


def write_recipe(machine: Path, text: str = RECIPE, checkout: str = "checkout") -> Path:
    path = machine / checkout / "recipes" / "tones.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def recipe(tone_data: DataConfig, tmp_path: Path) -> Path:
    """A recipe at home, its data linked to from beside the checkout."""
    ignored = shutil.ignore_patterns("work")
    shutil.copytree(tone_data.train_manifest.parent, tmp_path / "data", ignore=ignored)
    path = write_recipe(tmp_path / "home")
    (tmp_path / "home" / "speech").symlink_to(tmp_path / "data")
    return path


def run(*words: object) -> int:
    return main([str(word) for word in words])


def test_a_recipe_needs_its_manifests_and_what_they_name(recipe: Path) -> None:
    files = packing_list(load_recipe(recipe), recipe)
    assert {"2/speech/train.tsv", "2/speech/dev.tsv", "2/speech/noise.tsv"} <= files.keys()
    assert {"2/speech/train-0.flac", "2/speech/dev-2.flac", "2/speech/noise.flac"} <= files.keys()
    assert len(files) == 3 + 8 + 3 + 1
    assert common_root(load_recipe(recipe), recipe) == recipe.parents[2]


def test_luggage_finds_its_place_in_a_checkout_of_another_name(
    recipe: Path, tmp_path: Path
) -> None:
    made = recipe.parents[1] / "build" / "made"
    shutil.copytree(tmp_path / "data", made)
    text = RECIPE.replace("work_dir", 'more_manifests = ["../build/made/train.tsv"]\nwork_dir')
    recipe.write_text(text, encoding="utf-8")
    pack(recipe, tmp_path / "luggage", 1 << 20)
    there = write_recipe(tmp_path / "host", text, "elsewhere")
    unpack(there, tmp_path / "luggage")
    assert (tmp_path / "host" / "speech" / "train-0.flac").is_file()
    assert (tmp_path / "host" / "elsewhere" / "build" / "made" / "train-0.flac").is_file()


def test_a_recording_elsewhere_is_refused(recipe: Path) -> None:
    manifest = recipe.parents[2] / "speech" / "train.tsv"
    text = manifest.read_text(encoding="utf-8").replace("train-0.flac", "/train-0.flac")
    manifest.write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError, match="elsewhere"):
        packing_list(load_recipe(recipe), recipe)


def test_of_a_model_to_start_from_only_the_weights_travel(recipe: Path) -> None:
    start = recipe.parents[1] / "start"
    start.mkdir()
    weights = {"config.json", "model.safetensors", "bpe.model", "units.txt"}
    for name in (*weights, "lm.graph.xz", "neural_lm.safetensors", "lexicon.txt.xz"):
        (start / name).touch()
    recipe.write_text(f'{RECIPE}\n[start]\nmodel = "../start"\n', encoding="utf-8")
    names = packing_list(load_recipe(recipe), recipe)
    assert {name for name in names if "start" in name} == {f"1/start/{name}" for name in weights}


def test_speech_that_is_yet_to_be_made_is_refused(recipe: Path) -> None:
    text = RECIPE.replace("work_dir", "synthetic_count = 3\nwork_dir")
    recipe.write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError, match="more_manifests"):
        packing_list(load_recipe(recipe), recipe)


def test_a_host_trains_when_all_pieces_have_come(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    luggage, home = tmp_path / "luggage", tmp_path / "home"
    assert run("pack", recipe, "--output", luggage, "--piece-mib", 0.02) == 0
    names = [row["name"] for row in json.loads((luggage / "pieces.json").read_text())]
    assert len(names) > 1

    there = write_recipe(tmp_path / "host")
    incoming, output = tmp_path / "incoming", tmp_path / "output"
    host = ("host", there, "--pieces", incoming, "--output", output, "--device", "cpu")
    incoming.mkdir()
    for name in ("pieces.json", *names[:-1]):
        shutil.copy(luggage / name, incoming)
    assert run(*host, "--minutes", 5) == MORE_TO_COME
    assert f"waiting for {names[-1]}" in capsys.readouterr().out
    shutil.copy(luggage / names[-1], incoming)
    assert run(*host, "--minutes", 0.01) == 0  # a call too short for an update
    assert not (output / "pieces.json").exists()
    assert run(*host, "--minutes", 5, "--piece-mib", 0.02) == 0

    assert run("join", output, "--output", home / "model") == 0
    assert load_model(home / "model").name == "tones"
    assert '"step": 6' in (output / "log.jsonl").read_text()


def test_luggage_that_does_not_go_in_is_an_error(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = recipe.parents[1]
    subprocess.run(["git", "init", str(checkout)], check=True, capture_output=True)
    pack_it = ("pack", recipe, "--output", tmp_path / "luggage", "--checkout", checkout)
    assert run(*pack_it) == 0
    assert "call 1: " in capsys.readouterr().out
    assert run(*pack_it, "--limit-mib", 0.001) == 1
    assert "go in: a checkout without models/bundled" in capsys.readouterr().err


def test_a_run_goes_on_elsewhere(recipe: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert run("train", recipe, "--run", folder, "--device", "cpu") == 0
    assert run("cut", folder, "--output", tmp_path / "state", "--piece-mib", 0.1) == 0
    assert run("join", tmp_path / "state", "--output", tmp_path / "again") == 0
    assert run("train", recipe, "--run", tmp_path / "again", "--device", "cpu") == 0
    models = []
    for each in (folder, tmp_path / "again"):
        assert run("export", recipe, "--run", each, "--output", tmp_path / "model") == 0
        models.append((tmp_path / "model" / "model.safetensors").read_bytes())
    assert models[0] == models[1]
