"""Matrices stored as int8 a row: a quarter of their memory on a disk, none saved in arithmetic.

Row r of a weight is stored as round(w / scale[r]) beside scale[r] = max |w| / 127, symmetric around
zero; it is read back as float32, at most half a scale from what it was. A convolution's row is
what one output channel weighs its inputs with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.models.checkpoints.files.stored_tensors import (
    in_memory,
    is_stored,
    place_of,
    store,
)
from earshot.models.errors import DamagedWeights, MissingKeys, ShapeMismatch, UnusableNumbers

SCALE = ".scale"
"""After a weight's name, that of its scales."""
LARGEST = 127
SHORTEST_ROW = 32
"""With fewer numbers a scale of 4 bytes is no longer small, and few weights lie in such rows."""
NEAR_WHOLE = 1e-3
"""In scales: float32 is good for 1e-5 of one."""
ROWS_LOOKED_AT = 32
"""Of a weight: one that was not stored so shows it in each of them."""
SMALLEST_SCALE = torch.finfo(torch.float32).tiny


def is_stored_as_rows(key: str, weight: Tensor) -> bool:
    """Whether it is a matrix or a convolution with rows that are long enough."""
    is_matrix = weight.is_floating_point() and weight.dim() >= 2 and key.endswith("weight")
    return is_matrix and weight[0].numel() >= SHORTEST_ROW


def store_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """A weight (R, ...) as int8, and float32 scales (R,)."""
    rows = weight.detach().float().flatten(1)
    scale = (rows.abs().amax(dim=1) / LARGEST).clamp(min=SMALLEST_SCALE)
    stored = torch.round(rows / scale[:, None]).clamp(-LARGEST, LARGEST)
    return stored.to(torch.int8).reshape(weight.shape), scale


def are_int8_rows(weight: Tensor) -> bool:
    """Whether `store_rows` loses nothing of a weight (R, ...) but what float32 rounds.

    Rows are looked at here and there, since a start would wait half a second for all; of a weight
    that is stored in a file as well.
    """
    if isinstance(place_of(weight), StoredRows):
        return True
    rows = in_memory(weight.detach().flatten(1)[:: 1 + (len(weight) - 1) // ROWS_LOOKED_AT])
    scale = (rows.abs().amax(dim=1, keepdim=True) / LARGEST).clamp(min=SMALLEST_SCALE)
    numbers = rows / scale
    return bool(((numbers - numbers.round()).abs() < NEAR_WHOLE).all())


def restore_rows(weights: Mapping[str, Tensor], suffix: str = SCALE) -> dict[str, Tensor]:
    """All weights, with those of int8 as float32 and their scales gone.

    What is stored in a file stays there, and is turned when it is read. suffix: after a weight's
    name, that of its scales. Raises MissingKeys, ShapeMismatch, UnusableNumbers or DamagedWeights
    for scales that are not there, not one for each row, no floating-point numbers, or not finite
    and above zero.
    """
    stored = {key for key, weight in weights.items() if weight.dtype is torch.int8}
    scales = {key + suffix for key in stored}
    if missing := scales - weights.keys():
        raise MissingKeys(missing)
    return {
        key: _restored(weights, key, key + suffix) if key in stored else weight
        for key, weight in weights.items()
        if key not in scales
    }


@dataclass(frozen=True)
class StoredRows:
    """A weight (R, ...) whose int8 is stored in a file; its scales (R,) are in memory."""

    rows: Tensor
    scale: Tensor

    def read(self, view: Tensor) -> Tensor:
        """See `Stored`. Raises what `in_memory` raises."""
        whole = float_rows(in_memory(self.rows), self.scale)
        return whole.as_strided(view.shape, view.stride(), view.storage_offset())


def _restored(weights: Mapping[str, Tensor], key: str, scale_key: str) -> Tensor:
    """One weight. Raises what `restore_rows` raises."""
    weight, scale = weights[key], in_memory(weights[scale_key])
    if scale.dtype not in (torch.float16, torch.float32):
        raise UnusableNumbers(f"{scale_key} holds {scale.dtype}, which is no scale's type")
    if weight.dim() < 2 or scale.shape != weight.shape[:1]:
        raise ShapeMismatch(
            f"{key} is {tuple(weight.shape)}, its scales for rows {tuple(scale.shape)}"
        )
    if not (torch.isfinite(scale) & (scale > 0)).all():
        raise DamagedWeights(scale_key)
    if not is_stored(weight):
        return float_rows(weight, scale)
    restored = torch.empty(weight.shape, device="meta")
    store(restored, StoredRows(weight, scale))
    return restored


def float_rows(rows: Tensor, scale: Tensor) -> Tensor:
    """Rows (R, ...) of int8 as the float32 that they stand for, by scales (R,)."""
    return rows.float().mul_(scale.float().reshape(-1, *[1] * (rows.dim() - 1)))
