"""What a model's folder holds beside its network: graph, lexicon, language models, licences."""

from __future__ import annotations

import shutil
from pathlib import Path

NOT_KEPT = (".py", ".md")
"""Code, and what was written about the model as it was."""


def keep_files(start: Path, output: Path) -> None:
    """Copies files of `start` that `output` has not: a head changes nothing for them."""
    for path in sorted(start.iterdir()):
        there = output / path.name
        if path.is_file() and path.suffix not in NOT_KEPT and not there.exists():
            shutil.copyfile(path, there)
