"""Golden model directories and small random models."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_models import TINY, TINY_ENCODERS, make_tiny_model
from torch import Tensor

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.config import ModelConfig
from earshot.models.u2.u2 import U2Model

GOLDEN_MODELS = (
    "u2pp_conformer",
    "variants/transformer_abspos_kaldicmvn",
    "variants/offline_conformer_bn",
    "variants/conv2d6_bn_k8_transformerdec_era2",
)
STREAMABLE = tuple(name for name in GOLDEN_MODELS if "offline" not in name)


@dataclass(frozen=True)
class Golden:
    """One golden directory: the model as we load it and what WeNet's code made of it."""

    directory: Path
    loaded: LoadedModel
    arrays: dict[str, Tensor]
    meta: dict[str, Any]
    search: dict[str, Any]
    features: dict[str, Tensor]  # of utterances A and B, (1, T, 80)

    @property
    def model(self) -> U2Model:
        return self.loaded.model


def _read_json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def _read_arrays(path: Path) -> dict[str, Tensor]:
    with np.load(path) as arrays:
        return {key: torch.from_numpy(arrays[key]) for key in arrays}


def _read_golden(folder: Path, name: str) -> Golden:
    fbank = _read_arrays(folder / "features.npz")
    return Golden(
        folder / name,
        load_model(folder / name),
        _read_arrays(folder / name / "golden.npz"),
        _read_json(folder / name / "golden_meta.json"),
        _read_json(folder / name / "golden_search.json"),
        {"A": fbank["fbank_aishell"][None], "B": fbank["fbank_libri"][None]},
    )


@pytest.fixture(scope="session")
def golden_by_name(golden_dir: Path) -> dict[str, Golden]:
    return {name: _read_golden(golden_dir, name) for name in GOLDEN_MODELS}


@pytest.fixture(params=STREAMABLE)
def whole_golden(request: pytest.FixtureRequest, whole_golden_dir: Path) -> Golden:
    """A golden directory with all its frames."""
    return _read_golden(whole_golden_dir, request.param)


@pytest.fixture(params=GOLDEN_MODELS)
def golden(request: pytest.FixtureRequest, golden_by_name: dict[str, Golden]) -> Golden:
    return golden_by_name[request.param]


@pytest.fixture(params=STREAMABLE)
def streamable_golden(request: pytest.FixtureRequest, golden_by_name: dict[str, Golden]) -> Golden:
    return golden_by_name[request.param]


@pytest.fixture(params=[name for name in GOLDEN_MODELS if "era2" not in name])
def searched_golden(request: pytest.FixtureRequest, golden_by_name: dict[str, Golden]) -> Golden:
    """Golden directories that hold results of WeNet's searches."""
    return golden_by_name[request.param]


@pytest.fixture
def u2pp_dir(golden_dir: Path) -> Path:
    return golden_dir / "u2pp_conformer"


@pytest.fixture(scope="session")
def tiny_models() -> dict[str, U2Model]:
    return {name: make_tiny_model(**options) for name, options in TINY_ENCODERS.items()}


@pytest.fixture(params=tuple(TINY_ENCODERS))
def tiny_model(request: pytest.FixtureRequest, tiny_models: dict[str, U2Model]) -> U2Model:
    return tiny_models[request.param]


@pytest.fixture
def tiny_config() -> ModelConfig:
    return TINY
