"""Random Whispers that other programs wrote, and what these compute: `tests/golden/README.md`."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

FOLDER = Path(__file__).resolve().parents[3] / "golden" / "whisper"


@pytest.fixture
def whispers(tmp_path: Path) -> Path:
    """A writable copy of them."""
    return shutil.copytree(FOLDER, tmp_path / "whispers")


@pytest.fixture(scope="session")
def computed() -> dict[str, Tensor]:
    with np.load(FOLDER / "golden.npz") as arrays:
        return {name: torch.from_numpy(arrays[name]) for name in arrays}
