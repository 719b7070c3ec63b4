"""Stages one after another, taken up where they stopped."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from earshot.training.files.output_folder import make_folder
from earshot.training.recipe.config import Recipe
from earshot.training.run.export import export
from earshot.training.run.run import default_folder, open_run
from earshot.training.run.time_limit import TimeLimit
from earshot.training.stages.stage_needs import require_stage
from earshot.training.stages.usable_precision import at_usable_precision
from earshot.training.student.nemo_archive import archive_place

Tell = Callable[[str], None]


def run_stages(
    stages: Sequence[Recipe],
    device: torch.device,
    limit: TimeLimit,
    tell: Tell,
    run: Path | None = None,
    output: Path | None = None,
) -> bool:
    """Trains each stage to its end, and writes its model where the next one starts.

    What any stage lacks is told before the first begins. A stage whose model is there is
    over. run: the folder of the last stage's run, where the recipe does not say; output: its
    model's, which is written wherever the run stops. Returns whether all is done. Raises like
    `open_run`, `require_stage` and `export`.
    """
    if output is not None:
        _require_place(stages[-1], output)  # known before the work, not after it
    for recipe in stages:
        require_stage(recipe)
    for recipe, following in itertools.pairwise(stages):
        assert following.start is not None
        assert following.start.model is not None
        model = following.start.model
        if model.exists():
            tell(f"{recipe.name}: its model is in {model}")
            continue
        if not _run(recipe, default_folder(recipe), device, limit, tell):
            return False
        partial = model.with_name(model.name + ".partial")
        export(recipe, default_folder(recipe), partial)
        partial.replace(model)  # there entirely, or not at all
    folder = run or default_folder(stages[-1])
    finished = _run(stages[-1], folder, device, limit, tell)
    if output is not None:
        export(stages[-1], folder, output)
    return finished


def _require_place(recipe: Recipe, output: Path) -> None:
    if recipe.student is None:
        make_folder(output)
    else:
        archive_place(output, recipe.name)


def _run(recipe: Recipe, folder: Path, device: torch.device, limit: TimeLimit, tell: Tell) -> bool:
    usable = at_usable_precision(recipe, device)
    if usable != recipe:
        tell(f"{recipe.name}: in float32, since this processor has no fast bfloat16")
    trainer = open_run(usable, folder, device)
    tell(f"{recipe.name}: from update {trainer.progress.step} on {trainer.device}, in {folder}")
    trainer.run(limit=limit)
    tell(f"stands at update {trainer.progress.step}; log: {trainer.log_file}")
    return trainer.finished
