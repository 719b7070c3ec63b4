"""Golden data of the real NeMo: small models as it saved them, and what it made of four clips."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.fastconformer.model import FastConformerModel

RNNT = ("rnnt_offline", "rnnt_streaming", "conformer_rnnt_striding4")
TDT = ("tdt_offline", "hybrid_tdt_ctc")
CTC = ("ctc_offline", "hybrid_tdt_ctc", "conformer_ctc_striding4")
TRANSDUCERS = RNNT + TDT
MODELS = tuple(dict.fromkeys(TRANSDUCERS + CTC))


@dataclass(frozen=True)
class NemoGolden:
    """One golden model as we load it, arrays that NeMo computed with it, and what it decoded.

    audio: the four clips `(N_i,)`, 16 kHz, in [-1, 1].
    """

    loaded: LoadedModel
    arrays: dict[str, Tensor]
    decoded: dict[str, Any]
    audio: list[Tensor]

    @property
    def model(self) -> FastConformerModel:
        assert isinstance(self.loaded.model, FastConformerModel)
        return self.loaded.model

    def rows(self, name: str) -> list[Tensor]:
        """Frames `(T_i, D)` of an array `(B, D, T)`, each clip's own length."""
        lengths = self.arrays[f"{name}_lengths"].tolist()
        return [row[:, :length].T for row, length in zip(self.arrays[name], lengths, strict=True)]


GoldenReader = Callable[[str], NemoGolden]
"""One of MODELS by name: the fixture `nemo_golden`."""


@cache
def read_nemo_golden(folder: Path, name: str) -> NemoGolden:
    """One of MODELS, in the folder of golden data that `shared_dir` has."""
    decoded = json.loads((folder / f"{name}.json").read_text())
    loaded, arrays = load_model(folder / f"{name}.nemo"), _read_arrays(folder, name)
    return NemoGolden(loaded, arrays, decoded, _read_audio(folder))


def _read_audio(folder: Path) -> list[Tensor]:
    arrays = _read_arrays(folder, "audio")
    lengths = arrays["lengths"].tolist()
    return [row[:length] for row, length in zip(arrays["audio"], lengths, strict=True)]


def _read_arrays(folder: Path, name: str) -> dict[str, Tensor]:
    with np.load(folder / f"{name}.npz") as arrays:
        return {key: torch.from_numpy(arrays[key]) for key in arrays}
