"""The one door through which every model comes in, whatever its format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.hugging_face_model import (
    hugging_face_weights,
    is_hugging_face_folder,
    load_hugging_face_model,
)
from earshot.models.checkpoints.nemo.archive import all_nemo
from earshot.models.checkpoints.nemo_model import claims_nemo, load_nemo_model, nemo_file
from earshot.models.checkpoints.own_format import load_own_model
from earshot.models.checkpoints.wenet import load_wenet_model
from earshot.models.errors import NAMES_SHOWN, CheckpointError, NotACheckpoint, quote
from earshot.models.native.late_weights import bring_all


@dataclass(frozen=True)
class CheckpointFormat:
    """How one kind of model lies on a disk, as a directory or a file.

    description: for who has named something else. claims: whether a path holds one. weights: the
    file that makes a model what it is. Modules of a loaded model may wait for their weights.
    """

    description: str
    claims: Callable[[Path], bool]
    load: Callable[[Path], LoadedModel]
    weights: Callable[[Path], Path]


FORMATS: list[CheckpointFormat] = [
    CheckpointFormat("a .nemo archive (NeMo)", claims_nemo, load_nemo_model, nemo_file),
    CheckpointFormat(
        "config.json with a model_type (Hugging Face)",
        is_hugging_face_folder,
        load_hugging_face_model,
        hugging_face_weights,
    ),
    CheckpointFormat(
        "config.json (Earshot)",
        lambda path: (path / "config.json").is_file(),
        load_own_model,
        lambda path: path / "model.safetensors",
    ),
    CheckpointFormat(
        "train.yaml and final.pt (WeNet)",
        lambda path: (path / "train.yaml").is_file() or (path / "final.pt").is_file(),
        load_wenet_model,
        lambda path: path / "final.pt",
    ),
]
"""Asked in this order; another model family puts its own first."""


def load_model(
    path: Path | str, device: torch.device | str = "cpu", *, late: bool = False
) -> LoadedModel:
    """Loads a model of any format onto `device`.

    late: on the CPU, leave in the file what layers may wait for, for whoever packs them one by one
    (`models/native/late_weights.py`).

    Raises CheckpointError (which kind of broken it is, see earshot.models.errors), ConfigError or
    TokenizerError.
    """
    path = Path(path)
    if not path.exists():
        raise CheckpointError(f"there is no model {path}")
    known = next((each for each in FORMATS if each.claims(path)), None)
    if known is None:
        raise _of_no_format(path)
    loaded = known.load(path)
    if not late or torch.device(device).type != "cpu":
        bring_all(loaded.model)
        loaded.model.to(device)
    directory = path if path.is_dir() else None
    return replace(loaded, directory=directory, weights=known.weights(path))


def _of_no_format(path: Path) -> CheckpointError:
    described = [each.description for each in FORMATS]
    if path.is_file():
        return NotACheckpoint(f"{path} is a file; a model here is {', or '.join(described)}")
    if archives := all_nemo(path):
        names = ", ".join(quote(archive.name) for archive in archives[:NAMES_SHOWN])
        return CheckpointError(
            f"{path} holds {len(archives)} .nemo archives, {names}: name one of them"
        )
    return CheckpointError(f"{path} holds neither {', nor '.join(described)}")
