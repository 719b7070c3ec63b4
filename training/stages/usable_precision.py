"""The precision that a processor is good at."""

from __future__ import annotations

from dataclasses import replace

import torch

from earshot.training.recipe.config import Recipe

WITHOUT_BFLOAT16 = ("AVX2", "DEFAULT", "NO AVX")
"""Kinds of processors on which torch multiplies in bfloat16 by loops of its own: a linear layer of
384 to 1,536 took 35 times as long as in float32 (AMD EPYC with AVX2)."""


def at_usable_precision(recipe: Recipe, device: torch.device) -> Recipe:
    """The recipe, in float32 where its bfloat16 would only be slow."""
    kind = torch.backends.cpu.get_cpu_capability()
    if device.type != "cpu" or kind not in WITHOUT_BFLOAT16:
        return recipe
    return replace(recipe, optimiser=replace(recipe.optimiser, precision="float32"))
