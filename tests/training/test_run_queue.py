"""`run_queue.sh`: one recipe after the other, with the data where the command says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SAYS_ITS_WORDS = '#!/bin/sh\necho "$EARSHOT_DATA: $*"\n'


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """What stands for Python: it says how it was called."""
    path = tmp_path / "python"
    path.write_text(SAYS_ITS_WORDS, encoding="utf-8")
    path.chmod(0o755)
    return path


def queue(repository_dir: Path, python: Path, *words: str) -> None:
    script = repository_dir / "training" / "run_queue.sh"
    environment = {"PATH": os.environ["PATH"], "PYTHON": str(python), "EARSHOT_DATA": "/old"}
    subprocess.run(["sh", script, *words], env=environment, check=True)


def test_recipes_are_trained_in_turn(repository_dir: Path, python: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    queue(repository_dir, python, str(runs), "a.toml", "b.toml")
    for name in ("a", "b"):
        said = (runs / f"{name}.out").read_text()
        words = f"train {name}.toml --run {runs}/{name} --device cpu"
        assert said == f"/old: -m earshot.training {words}\n"
    assert not (runs / "pid").exists()


def test_the_data_lies_where_the_command_says(
    repository_dir: Path, python: Path, tmp_path: Path
) -> None:
    queue(repository_dir, python, "--data", "/new", str(tmp_path / "runs"), "a.toml")
    assert (tmp_path / "runs" / "a.out").read_text().startswith("/new: ")
