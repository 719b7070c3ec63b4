"""Memory that the tensors of a foreign file claim, which may be far more than the file has."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from earshot.models.errors import UnsafeCheckpoint

MAX_SHARING = 4  # Names may share memory, as tied embeddings do.


def check_claimed(name: object, size: int, tensors: Mapping[str, Tensor]) -> None:
    """Raises UnsafeCheckpoint for tensors that would take far more than their file, once copied.

    One may claim any shape over one stored number by repeating it, and many may share their memory.
    name: the file's, for the error. size: its bytes.
    """
    claimed = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    if claimed > MAX_SHARING * size:
        raise UnsafeCheckpoint(f"{name} claims {claimed} bytes of tensors, far more than it has")
