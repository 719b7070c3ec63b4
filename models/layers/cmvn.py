"""Global mean and variance normalisation of features, and the files that hold its statistics."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from earshot.models.errors import CheckpointError

VARIANCE_FLOOR = 1e-20
MAX_FILE_BYTES = 1024 * 1024


class GlobalCmvn(nn.Module):
    """(x - mean) * istd, per mel bin. Starts as the identity."""

    mean: Tensor
    istd: Tensor

    def __init__(self, num_mel_bins: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(num_mel_bins))
        self.register_buffer("istd", torch.ones(num_mel_bins))

    def forward(self, features: Tensor) -> Tensor:
        """Features (…, F) to (…, F)."""
        return (features - self.mean) * self.istd


def read_cmvn(path: Path) -> tuple[Tensor, Tensor]:
    """Mean and inverse standard deviation (F,) from a JSON or a Kaldi text file.

    Raises CheckpointError if it is neither, or its numbers are no statistics.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise CheckpointError(f"{path} is too large for CMVN statistics")
        text = path.read_text(encoding="utf-8")
        sums, squares, count = _parse_json(text) if text.lstrip()[:1] == "{" else _parse_kaldi(text)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(f"{path} holds no CMVN statistics: {error}") from error
    if count <= 0 or not sums or len(sums) != len(squares):
        raise CheckpointError(f"{path}: {len(sums)} sums, {len(squares)} squares, {count} frames")
    mean = torch.tensor(sums, dtype=torch.float64) / count
    variance = torch.tensor(squares, dtype=torch.float64) / count - mean**2
    istd = variance.clamp(min=VARIANCE_FLOOR).rsqrt()
    if not bool(torch.isfinite(mean).all() and torch.isfinite(istd).all()):
        raise CheckpointError(f"{path} holds numbers that are not finite")
    return mean.float(), istd.float()


Statistics = tuple[Sequence[float], Sequence[float], float]


def _parse_json(text: str) -> Statistics:
    """{"mean_stat": sums, "var_stat": sums of squares, "frame_num": count}."""
    stats = json.loads(text)
    sums, squares = map(float, stats["mean_stat"]), map(float, stats["var_stat"])
    return list(sums), list(squares), float(stats["frame_num"])


def _parse_kaldi(text: str) -> Statistics:
    """[ sums… count  squares… 0 ]; the binary form is not text and was refused before."""
    fields = text.split()
    if len(fields) < 6 or fields[0] != "[" or fields[-1] != "]" or len(fields) % 2:
        raise ValueError("not '[ sums count squares 0 ]'")
    numbers = [float(field) for field in fields[1:-1]]
    half = len(numbers) // 2
    return numbers[: half - 1], numbers[half:-1], numbers[half - 1]
