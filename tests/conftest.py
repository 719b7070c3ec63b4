"""Fixtures for all tests: where the shared data lies, and how many threads torch may use."""

import os
from pathlib import Path

import pytest

# Set before any test module imports torch: a step of a tiny model is slower on two threads than on
# one, and sums over one thread are the same on every machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

REPOSITORY = Path(__file__).resolve().parent.parent


def existing(path: Path) -> Path:
    """Return ``path``; skip the test that asked for it, with the reason, where it is missing."""
    if not path.exists():
        pytest.skip(f"shared data is missing: {path} (set EARSHOT_SHARED to where it lies)")
    return path


@pytest.fixture(scope="session")
def repository_dir() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The data shared with developers and CI: ``$EARSHOT_SHARED`` or ``../shared``."""
    return existing(Path(os.environ.get("EARSHOT_SHARED", REPOSITORY.parent / "shared")))


@pytest.fixture(scope="session")
def golden_dir(shared_dir: Path) -> Path:
    """Outputs of the real WeNet code, with the model and the two wavs they were made from."""
    return existing(shared_dir / "golden" / "wenet")


@pytest.fixture(scope="session")
def speech_dir(shared_dir: Path) -> Path:
    """Real transcribed English: ``train.tsv``, ``dev.tsv`` and ``audio/``."""
    return existing(shared_dir / "speech")
