"""bfloat16 where a processor is good at it, and float32 elsewhere."""

from dataclasses import replace

import pytest
import torch

from earshot.training.recipe.config import Recipe
from earshot.training.stages.usable_precision import at_usable_precision

CPU = torch.device("cpu")


@pytest.fixture
def in_bfloat16(tone_recipe: Recipe) -> Recipe:
    return replace(tone_recipe, optimiser=replace(tone_recipe.optimiser, precision="bfloat16"))


@pytest.mark.parametrize(
    ("kind", "precision"), [("AVX2", "float32"), ("DEFAULT", "float32"), ("AVX512", "bfloat16")]
)
def test_a_processor_without_it_trains_in_float32(
    monkeypatch: pytest.MonkeyPatch, in_bfloat16: Recipe, kind: str, precision: str
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: kind)
    assert at_usable_precision(in_bfloat16, CPU).optimiser.precision == precision


def test_a_gpu_trains_as_the_recipe_says(
    monkeypatch: pytest.MonkeyPatch, in_bfloat16: Recipe
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    assert at_usable_precision(in_bfloat16, torch.device("cuda")) == in_bfloat16


def test_a_recipe_in_float32_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch, tone_recipe: Recipe
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    assert at_usable_precision(tone_recipe, CPU) == tone_recipe
