"""Global mean and variance of the training features."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from earshot.training.data.augment import Features
from earshot.training.errors import CorpusError

SMALLEST_VARIANCE = 1e-4


def compute_cmvn(features: Iterable[Features]) -> tuple[Tensor, Tensor]:
    """Mean and inverse standard deviation `(F,)` over all frames of `(T, F)` arrays.

    float32, summed in float64. Raises CorpusError if there is no frame, or one is not finite.
    """
    count, total, squares = 0, np.float64(0.0), np.float64(0.0)
    for rows in features:
        wide = rows.astype(np.float64)
        count += len(wide)
        total = total + wide.sum(axis=0)
        squares = squares + (wide**2).sum(axis=0)
    if count == 0:
        raise CorpusError("no frames to compute mean and variance from")
    if not np.isfinite(squares).all():
        raise CorpusError("the features to compute mean and variance from are no finite numbers")
    mean = total / count
    variance = np.maximum(squares / count - mean**2, SMALLEST_VARIANCE)
    return torch.from_numpy(mean).float(), torch.from_numpy(1.0 / np.sqrt(variance)).float()
