"""What NeMo finds with a language model, boosts and beams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from arpa_walk import ArpaWalk

from earshot.language.ngrams.arpa import Arpa, read_arpa

LABELS = 64
"""Of NeMo's models; the i-th is the character i + 100 in its n-gram."""


@pytest.fixture(scope="session")
def fusion(nemo_golden_dir: Path) -> dict[str, Any]:
    """The golden results, by model."""
    found: dict[str, Any] = json.loads((nemo_golden_dir / "fusion_beam.json").read_text())
    return found


@pytest.fixture(scope="session")
def arpa(nemo_golden_dir: Path) -> Arpa:
    """The n-gram of labels that they were found with."""
    return read_arpa(nemo_golden_dir / "lm3.arpa")


@pytest.fixture(scope="session")
def spelled() -> list[str]:
    """The labels as the n-gram spells them."""
    return [chr(100 + label) for label in range(LABELS)]


@pytest.fixture(scope="session")
def lm(arpa: Arpa, spelled: list[str]) -> ArpaWalk:
    """The n-gram in plain loops."""
    return ArpaWalk(arpa, spelled)
