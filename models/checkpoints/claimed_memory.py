"""Memory that the tensors of a foreign file claim, which may be far more than the file has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from earshot.models.errors import UnsafeCheckpoint

MAX_SHARING = 4  # Names may share memory, as tied embeddings do.


def check_claimed(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Raises UnsafeCheckpoint for tensors that would take far more than their file, once copied.

    One may claim any shape over one stored number by repeating it, and many may share their memory.
    """
    claimed = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    if claimed > MAX_SHARING * path.stat().st_size:
        raise UnsafeCheckpoint(f"{path} claims {claimed} bytes of tensors, far more than it has")
