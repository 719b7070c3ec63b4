"""A run learns, writes what it does, and goes on exactly where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
import safetensors.torch
import torch

from earshot.models.checkpoints.checkpoint import load_model
from earshot.training.data.sampler import FIRST_SHUFFLED_EPOCH
from earshot.training.errors import Diverged, NoPlace, RecipeError, TrainingStateError
from earshot.training.measuring.greedy import greedy_texts
from earshot.training.recipe.checkpoint_config import Stored
from earshot.training.recipe.config import Recipe, StartConfig, UnitsConfig
from earshot.training.recipe.recipe_model import build_model
from earshot.training.run.export import export
from earshot.training.run.prepare import Prepared, prepare
from earshot.training.run.time_limit import TimeLimit
from earshot.training.run.trainer import LOG_FILE, Trainer
from earshot.training.run.training_state import STATE_FILE, SavedRun


def make_trainer(recipe: Recipe, prepared: Prepared, run: Path) -> Trainer:
    model = build_model(recipe, prepared.tokenizer.vocab_size, prepared.mean, prepared.istd)
    return Trainer(recipe, prepared, model, run)


def read_log(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / LOG_FILE).read_text().splitlines()]


@pytest.fixture(scope="module")
def finished_run(
    tone_recipe: Recipe, prepared: Prepared, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    run = tmp_path_factory.mktemp("run")
    make_trainer(tone_recipe, prepared, run).run()
    return run


def test_the_loss_falls(finished_run: Path) -> None:
    losses = [row["ctc_per_token"] for row in read_log(finished_run) if "ctc_per_token" in row]
    assert losses[-1] < 0.1 * losses[0]


def test_text_comes_out_of_the_exported_average(
    tone_recipe: Recipe, prepared: Prepared, finished_run: Path, tmp_path: Path
) -> None:
    export(tone_recipe, finished_run, tmp_path)
    loaded = load_model(tmp_path)
    texts = greedy_texts(loaded.model, loaded.tokenizer, prepared.dev, chunk_size=8)
    assert texts == [utterance.text for utterance in prepared.dev.utterances]


@pytest.mark.parametrize("stored", ["float32", "float16", "int8"])
def test_weights_are_stored_as_the_recipe_says(
    tone_recipe: Recipe, prepared: Prepared, finished_run: Path, tmp_path: Path, stored: Stored
) -> None:
    checkpoints = replace(tone_recipe.checkpoints, stored=stored)
    export(replace(tone_recipe, checkpoints=checkpoints), finished_run, tmp_path)
    dtypes = [w.dtype for w in safetensors.torch.load_file(tmp_path / "model.safetensors").values()]
    assert getattr(torch, stored) in dtypes
    loaded = load_model(tmp_path)
    texts = greedy_texts(loaded.model, loaded.tokenizer, prepared.dev, chunk_size=8)
    assert texts == [utterance.text for utterance in prepared.dev.utterances]


def test_the_best_checkpoints_are_kept(finished_run: Path) -> None:
    kept = SavedRun.read(finished_run).checkpoints
    assert len(kept) == 2
    assert set(kept) == set(finished_run.glob("step-*.pt"))


def test_the_log_has_the_error_rate_of_every_corpus(finished_run: Path) -> None:
    measured = [row for row in read_log(finished_run) if "dev_wer" in row]
    assert [row["step"] for row in measured] == [40, 80, 120, 160, 200, 240]
    assert {"dev_clips", "dev_sentences"} <= measured[-1].keys()
    assert measured[-1]["dev_wer"] == 0.0


def test_an_interrupted_run_ends_like_an_uninterrupted_one(
    with_steps: Callable[[int, int], Recipe], prepared: Prepared, tmp_path: Path
) -> None:
    recipe = with_steps(12, 6)
    # Dropout and augmentation on: their random numbers have to go on as well.
    recipe = replace(
        recipe,
        network=replace(recipe.network, dropout_rate=0.1),
        augment=replace(recipe.augment, from_step=2, spec_augment_from_step=4),
    )
    ready = prepare(recipe)
    whole = make_trainer(recipe, ready, tmp_path / "whole")
    whole.run()
    make_trainer(recipe, ready, tmp_path / "parts").run(stop_at_step=7)
    rest = make_trainer(recipe, ready, tmp_path / "parts")
    torch.manual_seed(99)
    assert rest.resume()
    assert rest.progress.step == 7
    rest.run()
    assert rest.progress.heard_seconds == whole.progress.heard_seconds
    expected = whole.model.state_dict()
    for name, tensor in rest.model.state_dict().items():
        assert torch.equal(tensor, expected[name]), name


def test_a_run_that_cools_stops_in_time_and_is_measured_there(
    with_steps: Callable[[int, int], Recipe], prepared: Prepared, tmp_path: Path
) -> None:
    ticks = count()
    limit = TimeLimit(20.0, 10.0, clock=lambda: next(ticks))
    trainer = make_trainer(with_steps(100, 100), prepared, tmp_path)
    trainer.run(limit=limit)
    assert 0 < trainer.progress.step < 20
    assert not trainer.finished
    assert [kept.step for kept in trainer.progress.kept] == [trainer.progress.step]
    assert trainer.optimiser.param_groups[0]["lr"] < 0.3 * trainer.recipe.optimiser.peak_rate


def test_the_end_of_the_schedule_is_measured(
    with_steps: Callable[[int, int], Recipe], prepared: Prepared, tmp_path: Path
) -> None:
    trainer = make_trainer(with_steps(12, 5), prepared, tmp_path)
    trainer.run(stop_at_step=11)
    trainer.run()
    trainer.run()  # nothing is left to do
    measured = [row["step"] for row in read_log(tmp_path) if "dev_wer" in row]
    assert measured == [5, 10, 12]


def test_bfloat16_learns_on_weights_of_full_precision(
    with_steps: Callable[[int, int], Recipe], prepared: Prepared, tmp_path: Path
) -> None:
    recipe = with_steps(12, 20)
    optimiser = replace(recipe.optimiser, precision="bfloat16")
    trainer = make_trainer(replace(recipe, optimiser=optimiser), prepared, tmp_path)
    seen = []
    trainer.model.encoder.layers[0].register_forward_hook(lambda *call: seen.append(call[2].dtype))
    before = {name: weight.clone() for name, weight in trainer.model.named_parameters()}
    trainer.run(stop_at_step=11)  # before the measurement, which is in float32
    assert set(seen) == {torch.bfloat16}
    after = dict(trainer.model.named_parameters())
    assert all(weight.dtype == torch.float32 for weight in after.values())
    assert not torch.equal(after["ctc.ctc_lo.weight"], before["ctc.ctc_lo.weight"])
    assert all(weight.isfinite().all() for weight in after.values())


def test_a_new_run_has_nothing_to_resume(
    tone_recipe: Recipe, prepared: Prepared, tmp_path: Path
) -> None:
    assert not make_trainer(tone_recipe, prepared, tmp_path).resume()


def test_the_state_of_another_network_is_refused(
    tone_recipe: Recipe, prepared: Prepared, finished_run: Path
) -> None:
    network = replace(tone_recipe.network, linear_units=48)
    other = make_trainer(replace(tone_recipe, network=network), prepared, finished_run)
    with pytest.raises(TrainingStateError, match=STATE_FILE):
        other.resume()


def test_a_run_without_checkpoints_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(TrainingStateError, match="no run at"):
        SavedRun.read(tmp_path)


def test_a_run_that_starts_from_a_model_begins_with_its_weights_and_shuffled(
    tone_recipe: Recipe, prepared: Prepared, finished_run: Path, tmp_path: Path
) -> None:
    export(tone_recipe, finished_run, tmp_path / "model")
    recipe = replace(tone_recipe, start=StartConfig(tmp_path / "model"))
    trainer = make_trainer(recipe, prepared, tmp_path / "run")
    assert trainer.progress.epoch == FIRST_SHUFFLED_EPOCH
    assert trainer.prepared.dev_errors(trainer.model)["sentences"] == 0.0


def test_a_run_that_starts_from_a_model_writes_its_units(
    tone_recipe: Recipe, prepared: Prepared, finished_run: Path, tmp_path: Path
) -> None:
    export(tone_recipe, finished_run, tmp_path / "model")
    data = replace(tone_recipe.data, work_dir=tmp_path / "elsewhere")
    start = StartConfig(tmp_path / "model")
    recipe = replace(tone_recipe, data=data, units=UnitsConfig(tokens=11), start=start)
    assert prepare(recipe).tokenizer.units.symbols == prepared.tokenizer.units.symbols


def test_a_start_that_is_another_network_is_refused(
    tone_recipe: Recipe, prepared: Prepared, finished_run: Path, tmp_path: Path
) -> None:
    export(tone_recipe, finished_run, tmp_path)
    network = replace(tone_recipe.network, linear_units=48)
    recipe = replace(tone_recipe, network=network, start=StartConfig(tmp_path))
    with pytest.raises(RecipeError, match="another network"):
        make_trainer(recipe, prepared, tmp_path / "run")


@pytest.mark.parametrize("steps", [12, 40])
def test_a_rate_that_is_far_too_high_ends_in_an_error(
    with_steps: Callable[[int, int], Recipe], prepared: Prepared, tmp_path: Path, steps: int
) -> None:
    recipe = with_steps(steps, 100)
    optimiser = replace(recipe.optimiser, peak_rate=1e30)
    trainer = make_trainer(replace(recipe, optimiser=optimiser), prepared, tmp_path)
    with pytest.raises(Diverged):
        trainer.run()
    assert not (tmp_path / STATE_FILE).exists()
    assert all("nan" not in str(row).lower() for row in read_log(tmp_path))


def other(section: str, **values: object) -> Callable[[Recipe], Recipe]:
    """The recipe with other values in a section."""

    def change(recipe: Recipe) -> Recipe:
        return replace(recipe, **{section: replace(getattr(recipe, section), **values)})

    return change


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (other("optimiser", seed=2), "optimiser.seed"),
        (other("optimiser", batch_seconds=3.0), "optimiser.batch_seconds"),
        (other("data", draws_per_epoch={"clips": 1.0}), "data.draws_per_epoch"),
        (other("augment", from_step=7), "augment.from_step"),
        (other("network", dropout_rate=0.1), "network.dropout_rate"),
    ],
)
def test_the_run_of_another_recipe_is_refused(
    tone_recipe: Recipe,
    prepared: Prepared,
    finished_run: Path,
    change: Callable[[Recipe], Recipe],
    named: str,
) -> None:
    trainer = make_trainer(change(tone_recipe), prepared, finished_run)
    with pytest.raises(TrainingStateError, match=rf"another recipe: other {named}\."):
        trainer.resume()


def test_the_run_of_other_texts_is_refused(
    tone_recipe: Recipe, prepared: Prepared, finished_run: Path
) -> None:
    first, *rest = prepared.sampler.utterances
    sampler = replace(prepared.sampler, utterances=[replace(first, text="high"), *rest])
    trainer = make_trainer(tone_recipe, replace(prepared, sampler=sampler), finished_run)
    with pytest.raises(TrainingStateError, match="other recordings"):
        trainer.resume()


@pytest.mark.parametrize(
    "change",
    [
        other("optimiser", total_steps=400, decay_from_step=300, threads=2),
        other("checkpoints", save_every=7, average=9, keep="last"),
        other("network", decoding_ctc_weight=2.0, chunk_size=16),
        other("data", work_dir=Path("/elsewhere")),
    ],
)
def test_what_changes_no_update_may_change(
    tone_recipe: Recipe,
    prepared: Prepared,
    finished_run: Path,
    change: Callable[[Recipe], Recipe],
) -> None:
    trainer = make_trainer(change(tone_recipe), prepared, finished_run)
    assert trainer.resume()
    assert trainer.progress.step == 240


@pytest.fixture
def short_run(
    with_steps: Callable[[int, int], Recipe], prepared: Prepared, tmp_path: Path
) -> tuple[Recipe, Path]:
    """A recipe and a run of it that can be broken."""
    recipe = with_steps(12, 6)
    make_trainer(recipe, prepared, tmp_path / "run").run()
    return recipe, tmp_path / "run"


def without(path: Path, section: str, key: str) -> bytes:
    """What a state would be that lacks a value."""
    state = torch.load(path, weights_only=True)
    del (state[section] if section else state)[key]
    torch.save(state, path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "broken",
    [
        lambda path: b"",
        lambda path: b"no state at all",
        lambda path: path.read_bytes()[:-2000],
        lambda path: without(path, "progress", "kept"),
        lambda path: without(path, "", "identity"),
    ],
)
def test_a_broken_state_is_named(
    short_run: tuple[Recipe, Path], prepared: Prepared, broken: Callable[[Path], bytes]
) -> None:
    recipe, run = short_run
    (run / STATE_FILE).write_bytes(broken(run / STATE_FILE))
    with pytest.raises(TrainingStateError, match=rf"{STATE_FILE} .*broken"):
        make_trainer(recipe, prepared, run).resume()
    with pytest.raises(TrainingStateError, match=rf"{STATE_FILE} .*broken"):
        export(recipe, run, run / "model")


def test_a_model_is_not_written_where_a_file_is(short_run: tuple[Recipe, Path]) -> None:
    recipe, run = short_run
    with pytest.raises(NoPlace, match=STATE_FILE):
        export(recipe, run, run / STATE_FILE)


@pytest.mark.parametrize("content", [None, b"", b"no weights"])
def test_a_kept_checkpoint_that_is_gone_or_broken_is_named(
    short_run: tuple[Recipe, Path], content: bytes | None
) -> None:
    recipe, run = short_run
    checkpoint = SavedRun.read(run).checkpoints[0]
    checkpoint.unlink()
    if content is not None:
        checkpoint.write_bytes(content)
    with pytest.raises(TrainingStateError, match=rf"{checkpoint.name} is missing or broken"):
        export(recipe, run, run / "model")


def test_a_run_is_not_exported_with_units_made_since(
    short_run: tuple[Recipe, Path], tmp_path: Path
) -> None:
    recipe, run = short_run
    fewer = replace(
        recipe,
        data=replace(recipe.data, work_dir=tmp_path / "work"),
        units=UnitsConfig(recipe.units.tokens - 1),
    )
    prepare(fewer)
    with pytest.raises(TrainingStateError, match="other units"):
        export(fewer, run, tmp_path / "model")


def test_a_run_that_was_killed_says_nothing_twice(
    short_run: tuple[Recipe, Path], prepared: Prepared
) -> None:
    recipe, run = short_run
    state = run / STATE_FILE
    before = state.read_bytes()
    longer = replace(
        recipe, optimiser=replace(recipe.optimiser, total_steps=24, decay_from_step=23)
    )
    for kill in (True, False):
        trainer = make_trainer(longer, prepared, run)
        assert trainer.resume()
        assert trainer.progress.step == 12
        trainer.run()
        if kill:
            state.write_bytes(before)  # as if it had not come to saving
    measured = [row["step"] for row in read_log(run) if "dev_wer" in row]
    assert measured == [6, 12, 18, 24]
