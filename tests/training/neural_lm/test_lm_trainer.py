"""A run learns its text, and goes on exactly where it stopped."""

import json
import math
from dataclasses import replace

import pytest
import torch

from earshot.models.neural_lm.lm_file import load_neural_lm
from earshot.models.neural_lm.sentence_scorer import SentenceScorer
from earshot.training.errors import CorpusError, Diverged, TrainingStateError
from earshot.training.neural_lm.perplexity import perplexity
from earshot.training.neural_lm.trainer import LmTrainer
from earshot.training.run.time_limit import TimeLimit
from earshot.training.text_run.network_run import LOG_FILE

CPU = torch.device("cpu")


def lines(recipe) -> list[dict]:
    return [json.loads(line) for line in (recipe.work_dir / LOG_FILE).read_text().splitlines()]


def updates_until(count: int) -> TimeLimit:
    """A limit that passes after about so many updates: each looks at the clock once."""
    ticks = iter(range(1000))
    return TimeLimit(seconds=count, clock=lambda: next(ticks))


def test_a_run_learns_what_its_text_says(recipe, tmp_path):
    trainer = LmTrainer(recipe, CPU)
    trainer.run(updates_until(1))
    before = trainer.perplexities["told.txt"]
    trainer.run(TimeLimit())
    assert trainer.finished
    assert trainer.perplexities["told.txt"] < 0.2 * before
    losses = [line["loss"] for line in lines(recipe) if "loss" in line]
    assert losses[-1] < 0.5 * losses[0]
    trainer.export(tmp_path / "out.safetensors")
    [[likely, odd]] = load_neural_lm(tmp_path / "out.safetensors").score(
        [[["the", "cat", "sees", "the", "river"], ["the", "cat", "sees", "river", "the"]]]
    )
    assert sum(likely.words) > sum(odd.words) + 2.0


def test_a_stopped_run_ends_as_one_that_never_stopped(recipe, tmp_path):
    whole = LmTrainer(recipe, CPU)
    whole.run(TimeLimit())
    parts = replace(recipe, work_dir=tmp_path / "parts")
    stops = []
    trainer = LmTrainer(parts, CPU)
    while not trainer.finished:
        trainer.run(updates_until(40))
        stops.append(trainer.step)
        trainer = LmTrainer(parts, CPU)
    assert len(stops) > 2
    for name, weight in whole.network.state_dict().items():
        assert torch.equal(trainer.network.state_dict()[name], weight), name


def test_the_run_of_another_recipe_is_not_gone_on_with(recipe):
    LmTrainer(recipe, CPU).run(updates_until(10))
    other = replace(recipe, network=replace(recipe.network, size=32))
    with pytest.raises(TrainingStateError, match="another recipe"):
        LmTrainer(other, CPU)
    recipe.texts[0].path.write_text("other words make up other tokens than before\n" * 30)
    with pytest.raises(TrainingStateError, match="another recipe: other texts, tokenizer"):
        LmTrainer(recipe, CPU)


def test_perplexity_is_that_of_words_and_ends(recipe, tmp_path):
    trainer = LmTrainer(recipe, CPU)
    trainer.export(tmp_path / "out.safetensors")
    scorer = load_neural_lm(tmp_path / "out.safetensors")
    path = tmp_path / "two.txt"
    path.write_text("the cat sees\n\na dog\n")
    [[first], [second]] = scorer.score([[["the", "cat", "sees"]], [["a", "dog"]]])
    total = sum(first.words) + first.end + sum(second.words) + second.end
    assert perplexity(scorer, path) == pytest.approx(torch.tensor(-total / 7).exp().item())
    assert perplexity(scorer, path, most=1) == pytest.approx(
        torch.tensor(-(sum(first.words) + first.end) / 4).exp().item()
    )


def test_a_text_of_sentences_that_do_not_fit_has_no_perplexity(recipe, tmp_path):
    trainer = LmTrainer(recipe, CPU)
    trainer.export(tmp_path / "out.safetensors")
    (tmp_path / "long.txt").write_text("the cat sees " * 30)
    with pytest.raises(CorpusError, match="no sentence that fits"):
        perplexity(load_neural_lm(tmp_path / "out.safetensors"), tmp_path / "long.txt")


def test_a_held_out_text_that_is_empty_is_refused_before_anything_is_trained(recipe):
    recipe.held_out[0].with_name("empty.txt").write_text("")
    empty = replace(recipe, held_out=(recipe.held_out[0].with_name("empty.txt"),))
    with pytest.raises(CorpusError, match="is empty"):
        LmTrainer(empty, CPU)


def test_a_run_is_saved_before_it_is_measured(recipe, tmp_path):
    held_out = tmp_path / "held_out.txt"
    held_out.write_text("the cat sees the river")
    trainer = LmTrainer(replace(recipe, held_out=(held_out,)), CPU)
    held_out.write_text("")
    with pytest.raises(CorpusError, match="no sentence"):
        trainer.run(updates_until(10))
    assert trainer.step > 0
    again = replace(recipe, held_out=())
    assert LmTrainer(again, CPU).step == trainer.step


def test_what_was_just_measured_is_not_measured_again(recipe):
    every = replace(recipe.optimiser, save_every=60)
    LmTrainer(replace(recipe, optimiser=every), CPU).run(TimeLimit())
    measured = [line["step"] for line in lines(recipe) if "perplexity_told.txt" in line]
    assert measured == [60, 120]


@pytest.mark.parametrize("steps", [7, 120])
def test_a_rate_that_is_far_too_high_ends_in_an_error(recipe, steps):
    high = replace(
        recipe.optimiser, peak_rate=1e30, decay_from_step=steps - 1, total_steps=steps, save_every=9
    )
    with pytest.raises(Diverged):
        LmTrainer(replace(recipe, optimiser=high), CPU).run(TimeLimit())


def test_a_model_that_knows_nothing_has_no_finite_perplexity(recipe):
    trainer = LmTrainer(recipe, CPU)
    for weight in (1e4, float("nan")):
        trainer.network.bias.data[0] = weight
        scorer = SentenceScorer(trainer.network, trainer._texts.tokenizer)
        assert perplexity(scorer, recipe.held_out[0]) == math.inf


@pytest.mark.parametrize(
    ("change", "named"),
    [({"seed": 8}, "optimiser.seed"), ({"batch": 7}, "optimiser.batch")],
)
def test_the_run_of_other_numbers_is_not_gone_on_with(recipe, change, named):
    LmTrainer(recipe, CPU).run(updates_until(10))
    with pytest.raises(TrainingStateError, match=rf"other .*{named}"):
        LmTrainer(replace(recipe, optimiser=replace(recipe.optimiser, **change)), CPU)


def test_a_run_may_be_lengthened(recipe):
    LmTrainer(recipe, CPU).run(updates_until(10))
    longer = replace(recipe.optimiser, total_steps=500, decay_from_step=400)
    assert LmTrainer(replace(recipe, optimiser=longer), CPU).step > 0


@pytest.mark.parametrize("content", [b"", b"no state", None])
def test_a_broken_state_is_named(recipe, content):
    LmTrainer(recipe, CPU).run(updates_until(10))
    state = recipe.work_dir / "state.pt"
    state.write_bytes(state.read_bytes()[:-2000] if content is None else content)
    with pytest.raises(TrainingStateError, match=r"state\.pt is missing or broken"):
        LmTrainer(recipe, CPU)


def test_a_state_that_lacks_something_is_named(recipe):
    LmTrainer(recipe, CPU).run(updates_until(10))
    path = recipe.work_dir / "state.pt"
    state = torch.load(path, weights_only=True)
    del state["step"]
    torch.save(state, path)
    with pytest.raises(TrainingStateError, match="it lacks 'step'"):
        LmTrainer(recipe, CPU)


def test_a_run_that_was_killed_says_nothing_twice(recipe):
    trainer = LmTrainer(recipe, CPU)
    trainer.run(updates_until(40))
    stopped = trainer.step
    before = (recipe.work_dir / "state.pt").read_bytes()
    trainer.run(TimeLimit())
    (recipe.work_dir / "state.pt").write_bytes(before)  # as if it had not come to saving
    LmTrainer(recipe, CPU)
    assert max(line["step"] for line in lines(recipe)) == stopped
