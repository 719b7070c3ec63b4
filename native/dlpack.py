"""How tensors are lent to C++: `csrc/arrays/borrowed_array.h` is the other side."""

from typing import Any, NewType, TypeAlias

import numpy.typing as npt
from torch import Tensor
from torch.utils.dlpack import to_dlpack  # type: ignore[attr-defined]

DlpackCapsule = NewType("DlpackCapsule", object)
"""A tensor on its way into one call: see `dlpack_capsule`."""

Lendable: TypeAlias = DlpackCapsule | Tensor | npt.NDArray[Any]
"""Arrays that C++ borrows, as the stubs name them."""


def dlpack_capsule(tensor: Tensor) -> DlpackCapsule:
    """The tensor for one call, which may keep it: its memory stays for as long as C++ holds it.

    As a capsule it takes a tenth of the time in which nanobind asks a tensor for one.
    """
    return DlpackCapsule(to_dlpack(tensor))
