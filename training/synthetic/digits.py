"""The synthetic digit speakers of a recipe: `synthetic_count` and `synthetic_seed`."""

from __future__ import annotations

import os
from pathlib import Path

from earshot.training.corpus.manifest import MANIFEST_FILE
from earshot.training.progress_bar import progress_bar
from earshot.training.synthetic.maker import Amount, Made, Maker
from earshot.training.synthetic.plan import Plan
from earshot.training.synthetic.sentences import Sentences


def synthesise(folder: Path, count: int, seed: int) -> Path:
    """Digits and words of numbers under `folder`, two in three by espeak-ng, the rest by flite.

    Returns the manifest; if it is there already, no engine is needed. Raises SynthesisError.
    """
    folder = folder / f"digits-{seed}-{count}"
    manifest = folder / MANIFEST_FILE
    if manifest.is_file():
        return manifest
    engines = {"espeak-ng": 2.0, "flite": 1.0}
    plan = Plan(seed, {"digits": 1.0}, engines, corpus="synthetic")
    with progress_bar(total=count, desc="synthesis", unit="file") as bar:

        def show(made: Made) -> None:
            bar.update(made.count - bar.n)

        return (
            Maker(folder, plan, Sentences(()), os.cpu_count() or 1)
            .make(Amount(count), show)
            .manifest
        )
