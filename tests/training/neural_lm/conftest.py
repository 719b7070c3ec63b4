"""Two small texts, and a recipe of seconds."""

import pytest

from earshot.models.neural_lm.network import NeuralLmConfig
from earshot.training.neural_lm.recipe import LmOptimiserConfig, LmRecipe
from earshot.training.text_run.text_recipe import TextConfig

SUBJECTS = ("the cat", "a dog", "my old friend", "the night watchman")
VERBS = ("sees", "hears", "never minds")
PLACES = ("the river", "a red house", "the garden gate", "nobody at all")


@pytest.fixture
def recipe(tmp_path) -> LmRecipe:
    lines = [f"{s} {v} {p}" for s in SUBJECTS for v in VERBS for p in PLACES]
    said, told = tmp_path / "said.txt", tmp_path / "told.txt"
    said.write_text("\n".join(lines * 4) + "\n")
    told.write_text("\n\n".join(f"once {line}" for line in lines) + "\n")
    return LmRecipe(
        name="tiny",
        work_dir=tmp_path / "run",
        texts=(TextConfig(said, 0.75), TextConfig(told, 0.25)),
        held_out=(told,),
        network=NeuralLmConfig(34, size=16, heads=2, blocks=1, feed_forward=32, context=40),
        optimiser=LmOptimiserConfig(
            batch=8, peak_rate=0.01, warmup_steps=5, decay_from_step=80, total_steps=120,
            precision="float32", threads=1, log_every=10, save_every=25,
        ),
    )  # fmt: skip
