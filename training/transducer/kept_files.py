"""What a model's folder holds beside its network: graph, lexicon, language models, licences."""

from __future__ import annotations

import shutil
from pathlib import Path

KEPT = (
    "LICENSE*", "NOTICE*", "lexicon.txt", "lexicon.txt.xz", "lm.graph", "lm.graph.xz",
    "letters.safetensors", "neural_lm.safetensors", "tagger.safetensors",
)  # fmt: skip
"""Files for which a head changes nothing, by their names."""


def keep_files(start: Path, output: Path) -> None:
    """Copies what lies beside the network of `start`, in place of what `output` has of it."""
    if start.resolve() == output.resolve():
        return
    for pattern in KEPT:
        for there in output.glob(pattern):
            there.unlink()
        for path in start.glob(pattern):
            shutil.copyfile(path, output / path.name)
