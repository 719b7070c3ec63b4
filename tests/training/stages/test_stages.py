"""Recipes one after another by one command."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from earshot.models.errors import TokenizerError
from earshot.training.__main__ import main
from earshot.training.errors import CorpusError, RecipeError
from earshot.training.recipe.config import (
    NetworkConfig,
    PhoneConfig,
    Recipe,
    StartConfig,
    WaveformConfig,
)
from earshot.training.recipe.distil_config import DistilConfig
from earshot.training.run.time_limit import TimeLimit
from earshot.training.stages.stage_file import load_last_stage, load_stages
from earshot.training.stages.stage_needs import require_stage
from earshot.training.stages.stage_runs import run_stages

CPU = torch.device("cpu")
WHISPER = Path(__file__).resolve().parents[2] / "golden" / "whisper"
DATA = """[data]
train_manifest = "train.tsv"
dev_manifest = "dev.tsv"
noise_manifest = "noise.tsv"
work_dir = "work"
draws_first_epoch = { books = 1.0 }
draws_per_epoch = { books = 1.0 }
"""
START = '[start]\nmodel = "first-model"\n'


@pytest.fixture
def stages(tone_recipe: Recipe, tmp_path: Path) -> list[Recipe]:
    """Two short ones; the second goes on from what the first leaves."""
    optimiser = replace(tone_recipe.optimiser, warmup_steps=1, decay_from_step=1, total_steps=3)
    data = replace(tone_recipe.data, work_dir=tmp_path / "work")
    checkpoints = replace(tone_recipe.checkpoints, save_every=3)
    first = replace(
        tone_recipe, name="first", data=data, optimiser=optimiser, checkpoints=checkpoints
    )
    return [first, replace(first, name="second", start=StartConfig(tmp_path / "first-model"))]


def test_stages_run_in_order_and_a_stage_that_is_over_is_passed(
    stages: list[Recipe], tmp_path: Path
) -> None:
    told: list[str] = []
    output = tmp_path / "model"
    assert not run_stages(stages, CPU, TimeLimit(0.0), told.append)
    assert run_stages(stages, CPU, TimeLimit(), told.append, output=output)
    assert (tmp_path / "first-model" / "config.json").exists()
    assert (output / "config.json").exists()
    told.clear()
    assert run_stages(stages, CPU, TimeLimit(), told.append)
    assert told[0] == f"first: its model is in {tmp_path / 'first-model'}"
    assert told[1].startswith("second: from update 3")


def test_what_a_later_stage_lacks_is_told_before_the_first_begins(stages: list[Recipe]) -> None:
    later = replace(stages[1], phones=PhoneConfig(Path("no-lexicon.dict")))
    told: list[str] = []
    with pytest.raises(CorpusError, match="no-lexicon"):
        run_stages([stages[0], later], CPU, TimeLimit(), told.append)
    assert told == []


def test_a_corpus_that_a_later_stage_lacks_is_told_before_the_first_begins(
    stages: list[Recipe],
) -> None:
    data = replace(stages[1].data, draws_per_epoch={"misspelled": 1.0})
    told: list[str] = []
    with pytest.raises(RecipeError, match="draws_per_epoch: no manifest has misspelled"):
        run_stages([stages[0], replace(stages[1], data=data)], CPU, TimeLimit(), told.append)
    assert told == []


@pytest.fixture
def whispers(tmp_path: Path) -> tuple[Path, Path]:
    """One that lies alone, as OpenAI publishes them, and one with its tokenizer."""
    alone, whole = tmp_path / "alone" / "whisper.pt", tmp_path / "whole" / "whisper.pt"
    for path in (alone, whole):
        path.parent.mkdir()
        shutil.copy(WHISPER / "openai.pt", path)
    shutil.copy(WHISPER / "hugging_face" / "tokenizer.json", whole.parent)
    return alone, whole


def with_decoder(stage: Recipe, whisper: Path, language: str = "en", **distil: Any) -> Recipe:
    """A later stage whose second pass is Whisper's decoder."""
    return replace(
        stage,
        network=NetworkConfig(encoder="whisper", decoder="whisper", language=language),
        distil=DistilConfig(whisper=whisper, decoder_weight=1.0, **distil),
        optimiser=replace(stage.optimiser, ctc_weight=1.0),
        data=replace(stage.data, speeds=(1.0,)),
        augment=replace(stage.augment, clip_trim_probability=0.0),
        waveform=WaveformConfig(),
    )


def test_a_tokenizer_that_a_later_stage_lacks_is_told_before_the_first_begins(
    stages: list[Recipe], whispers: tuple[Path, Path]
) -> None:
    told: list[str] = []
    with pytest.raises(RecipeError, match=r"no tokenizer\.json or vocab\.json lies beside .*alone"):
        run_stages([stages[0], with_decoder(stages[1], whispers[0])], CPU, TimeLimit(), told.append)
    assert told == []


def test_a_language_that_a_later_stages_whisper_lacks_is_told(
    stages: list[Recipe], whispers: tuple[Path, Path]
) -> None:
    with pytest.raises(TokenizerError, match="no language 'fr'"):
        require_stage(with_decoder(stages[1], whispers[1], language="fr"))


def test_a_language_that_whispers_decoder_cannot_space_is_told(
    stages: list[Recipe], whispers: tuple[Path, Path]
) -> None:
    with pytest.raises(RecipeError, match="words with spaces between them, of which 'ja' has none"):
        require_stage(with_decoder(stages[1], whispers[1], language="ja"))


def test_sentence_corpora_that_a_later_stage_lacks_are_told(
    stages: list[Recipe], whispers: tuple[Path, Path]
) -> None:
    with pytest.raises(RecipeError, match="sentence_corpora: no manifest has orders"):
        require_stage(with_decoder(stages[1], whispers[1], sentence_corpora=("orders",)))


def write_stages(folder: Path, text: str, second: str = START) -> Path:
    (folder / "first.toml").write_text('name = "first"\n' + DATA)
    (folder / "second.toml").write_text('name = "second"\n' + DATA + second)
    path = folder / "both.toml"
    path.write_text(text)
    return path


def test_a_file_names_stages_beside_it(tmp_path: Path) -> None:
    path = write_stages(tmp_path, 'stages = ["first.toml", "second.toml"]')
    assert [each.name for each in load_stages(path)] == ["first", "second"]


def test_a_recipe_is_its_only_stage(tmp_path: Path) -> None:
    write_stages(tmp_path, "stages = []")
    assert [each.name for each in load_stages(tmp_path / "first.toml")] == ["first"]


def test_the_last_stages_model_is_what_a_file_makes(tmp_path: Path) -> None:
    path = write_stages(tmp_path, 'stages = ["first.toml", "second.toml"]')
    assert load_last_stage(path).name == "second"


@pytest.mark.parametrize("action", ["evaluate", "export"])
def test_a_file_of_stages_is_measured_and_exported_by_its_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], action: str
) -> None:
    path = write_stages(tmp_path, 'stages = ["first.toml", "second.toml"]')
    second = tmp_path / "second.toml"
    second.write_text(second.read_text() + '[phones]\nlexicon = "second.dict"\n')
    more = ["--model", "model"] if action == "evaluate" else ["--output", "model"]
    assert main([action, str(path), "--data", str(tmp_path), *more]) == 1
    said = capsys.readouterr().err
    assert ("data.dev_manifest" if action == "evaluate" else "second.dict") in said


@pytest.mark.parametrize(
    "text", ["stages = []", 'stages = "first.toml"', 'stages = ["first.toml"]\nname = "x"']
)
def test_a_list_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(RecipeError, match="stages is a list of recipes, and stands alone"):
        load_stages(write_stages(tmp_path, text))


@pytest.mark.parametrize("name", [r"\u0000", "missing.toml"])
def test_a_stage_that_cannot_be_read_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecipeError, match="cannot read"):
        load_stages(write_stages(tmp_path, f'stages = ["{name}"]'))


def test_a_later_stage_needs_a_start(tmp_path: Path) -> None:
    path = write_stages(tmp_path, 'stages = ["first.toml", "second.toml"]', second="")
    with pytest.raises(RecipeError, match=r"second\.toml: start\.model"):
        load_stages(path)


def test_a_stage_of_anothers_name_is_told(tmp_path: Path) -> None:
    path = write_stages(tmp_path, 'stages = ["first.toml", "second.toml"]')
    second = tmp_path / "second.toml"
    second.write_text(second.read_text().replace('name = "second"', 'name = "first"'))
    with pytest.raises(RecipeError, match=r"first.toml: name: another stage is called 'first' too"):
        load_stages(path)
