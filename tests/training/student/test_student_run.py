"""Runs that train a FastConformer on what a U2 model hears."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import soundfile
import torch

from benchmarks.server.batching import run_all
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.stream_config import StreamConfig
from earshot.training.errors import NoPlace, RecipeError, TrainingStateError
from earshot.training.recipe.config import NetworkConfig, PhoneConfig, Recipe, StartConfig
from earshot.training.recipe.student_config import StudentConfig
from earshot.training.run.averaging import average_checkpoints
from earshot.training.run.export import export
from earshot.training.run.run import open_run
from earshot.training.run.small_state import SMALL_FILE
from earshot.training.run.time_limit import TimeLimit
from earshot.training.run.trainer import LOG_FILE, Trainer
from earshot.training.run.training_state import SavedRun
from earshot.training.stages.stage_runs import run_stages
from earshot.training.student.student_texts import student_texts

CPU = torch.device("cpu")
SHORT = {"warmup_steps": 1, "decay_from_step": 2, "total_steps": 3}


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    side = trainer.side_head
    assert side is not None
    return {**trainer.model.state_dict(), **side.state_dict(prefix="side.")}


def served(model: Path, recordings: list[Path]) -> list[str]:
    """What clients of an engine get."""
    config = EngineConfig(max_streams=4, max_file_lanes=4, threads=1)
    engine = build_engine(model, {}, config, device="cpu")
    engine.start()
    audio = [soundfile.read(path, dtype="float32")[0] for path in recordings]
    texts = run_all(engine, audio, StreamConfig(interim_results=False))
    engine.stop(timeout_s=10)
    return texts


def test_a_student_learns_to_write_and_its_archive_writes_the_same(
    recipe: Recipe, tmp_path: Path
) -> None:
    trainer = open_run(recipe, tmp_path / "run", CPU)
    trainer.run()
    log = [json.loads(line) for line in (tmp_path / "run" / LOG_FILE).read_text().splitlines()]
    rows = [row for row in log if "l2" in row]
    for name in ("loss_per_token", "ctc_per_token", "l2"):
        assert rows[-1][name] < 0.5 * rows[0][name], name
    assert log[-1]["dev_wer"] == 0.0
    export(recipe, tmp_path / "run", tmp_path / "model")
    assert [each.name for each in (tmp_path / "model").iterdir()] == ["student.nemo"]
    loaded, dev = load_model(tmp_path / "model"), trainer.prepared.dev
    texts = student_texts(loaded.model, loaded.tokenizer, dev)
    said = [utterance.text for utterance in dev.utterances]
    assert texts == said
    assert served(tmp_path / "model", [utterance.path for utterance in dev.utterances]) == said


def test_an_archive_holds_the_average_of_the_checkpoints(recipe: Recipe, tmp_path: Path) -> None:
    trainer = open_run(recipe, tmp_path / "run", CPU)
    trainer.run(stop_at_step=120)
    export(recipe, tmp_path / "run", tmp_path / "of.nemo")
    loaded = load_model(tmp_path / "of.nemo")
    kept = SavedRun.read(tmp_path / "run").checkpoints
    assert len(kept) == 2
    found = loaded.model.state_dict()
    expected = average_checkpoints(kept)
    assert found.keys() == expected.keys()
    for name, each in expected.items():
        torch.testing.assert_close(found[name], each, rtol=0, atol=0)
    assert loaded.tokenizer.units.symbols == trainer.prepared.tokenizer.units.symbols
    assert loaded.model.config == recipe.student.network(loaded.tokenizer.vocab_size)


def test_a_run_goes_on_where_it_stopped(recipe: Recipe, tmp_path: Path) -> None:
    whole = open_run(recipe, tmp_path / "whole", CPU)
    whole.run(stop_at_step=12)
    open_run(recipe, tmp_path / "parts", CPU).run(stop_at_step=5)
    rest = open_run(recipe, tmp_path / "parts", CPU)
    assert rest.progress.step == 5
    rest.run(stop_at_step=12)
    theirs = weights(whole)
    assert "side.weight" in theirs
    assert all(torch.equal(each, theirs[name]) for name, each in weights(rest).items())
    assert not (tmp_path / "parts" / SMALL_FILE).exists()  # the projection would be missing


def test_the_command_writes_an_archive_of_a_run_that_was_cut(
    recipe: Recipe, tmp_path: Path
) -> None:
    short = replace(recipe, optimiser=replace(recipe.optimiser, **SHORT))
    place = tmp_path / "new" / "model.nemo"
    assert run_stages([short], CPU, TimeLimit(), print, run=tmp_path / "run", output=place)
    assert load_model(place).family == "fastconformer"


def test_a_folder_has_one_archive(recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "other.nemo").touch()
    with pytest.raises(NoPlace, match=r"holds another archive: other\.nemo"):
        run_stages([recipe], CPU, TimeLimit(), print, run=tmp_path / "run", output=tmp_path)
    assert not (tmp_path / "run").exists()


def test_an_archive_is_of_the_run_s_own_units(recipe: Recipe, tmp_path: Path) -> None:
    open_run(recipe, tmp_path / "run", CPU).run(stop_at_step=1)
    state = torch.load(tmp_path / "run" / "state.pt")
    state["identity"]["units"] = "another's"
    state["progress"]["kept"] = [(0.0, 1, "step-000001.pt")]
    torch.save(state, tmp_path / "run" / "state.pt")
    with pytest.raises(TrainingStateError, match="writes other units"):
        export(recipe, tmp_path / "run", tmp_path / "model")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": None}, "student: it learns from a trained model"),
        ({"phones": PhoneConfig(lexicon=Path("lexicon"))}, "student: nothing else is learnt"),
        ({"network": NetworkConfig(output_size=8)}, "network: a student's sizes"),
        ({"waveform": None}, "student: two models hear the same sound"),
        ({"group_rates": {"encoder": 1e-4}}, "student: all of it learns by peak_rate"),
        ({"start_share": 0.5}, "checkpoints.start_share"),
        ({"stored": "int8"}, "checkpoints.stored: a student's archive holds float32"),
    ],
)
def test_a_recipe_for_a_student_trains_nothing_else(
    recipe: Recipe,
    with_changes: Callable[[Recipe, Mapping[str, object]], Recipe],
    changes: dict[str, object],
    message: str,
) -> None:
    with pytest.raises(RecipeError, match=message):
        with_changes(recipe, changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"window_labels": 5}, "student.window_labels"),
        ({"dropout": 0.95}, "student.dropout"),
        ({"frames_weight": -1.0}, "student.frames_weight"),
        ({"ctc_weight": -0.1}, "student.ctc_weight"),
        ({"feed_forward_factor": 0}, "student.feed_forward_factor"),
        ({"mel_bins": 0}, "student.mel_bins"),
        ({"heads": 3}, "student: size=176 is no multiple of 3"),
        ({"contexts": ((70, 12),)}, "a left context of 70, no multiple of chunks of 13"),
        ({"contexts": ()}, "student: there is no attention context"),
        ({"joint_size": 0}, "student: joint_size"),
    ],
)
def test_a_student_that_cannot_be_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        StudentConfig(**changes)


def test_a_teacher_has_frames_half_as_long(
    recipe: Recipe, tone_recipe: Recipe, tmp_path: Path
) -> None:
    slow = replace(
        tone_recipe,
        network=replace(tone_recipe.network, input_layer="conv1d6"),
        optimiser=replace(tone_recipe.optimiser, **SHORT),
    )
    open_run(slow, tmp_path / "slow", CPU).run()
    export(slow, tmp_path / "slow", tmp_path / "start")
    taught = replace(recipe, start=StartConfig(model=tmp_path / "start"))
    with pytest.raises(RecipeError, match=r"start.model: frames of .* are not of 40 ms"):
        open_run(taught, tmp_path / "run", CPU)


def test_a_teacher_has_pieces(recipe: Recipe, tmp_path: Path) -> None:
    start = tmp_path / "letters"
    assert recipe.start is not None
    shutil.copytree(recipe.start.model, start)
    (start / "bpe.model").unlink()
    with pytest.raises(RecipeError, match="are not sentencepiece's"):
        open_run(replace(recipe, start=StartConfig(model=start)), tmp_path / "run", CPU)
