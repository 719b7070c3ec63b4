"""The compiled kernels, and which half of them serves which device.

The stubs in `_native/` say what is bound. Arrays are lent (`earshot.native.dlpack`), on the half's
own device. Importing this raises BackendMissing where the kernels were not built.
"""

from collections.abc import Sequence
from typing import Protocol, cast

import torch

from earshot.decoder_kernels.errors import BackendMissing
from earshot.native.dlpack import DlpackCapsule

_NOT_BUILT = "the native kernels are not built (make setup)"
try:
    from earshot.decoder_kernels import _native as kernels
except ImportError as error:
    raise BackendMissing(f"{_NOT_BUILT}: {error}") from error
if not hasattr(kernels, "cpu"):  # the folder of the stubs alone looks like a package
    raise BackendMissing(_NOT_BUILT)

__all__ = ["NativeHalf", "has_half", "kernels", "native_half"]


class NativeHalf(Protocol):
    """The kernels for one kind of device; all halves bind what the CPU's does.

    prefix_threads, wfst_threads: threads of a block, where a search's config does not say.
    lm_row_bytes: of what `placed_row` says of a slot's language models.
    """

    prefix_threads: int
    wfst_threads: int
    lm_row_bytes: int
    PlacedLm: type[kernels.cpu.PlacedLm]
    PrefixSearch: type[kernels.cpu.PrefixSearch]
    WfstArcs: type[kernels.cpu.WfstArcs]
    WfstMemory: type[kernels.cpu.WfstMemory]

    def slot_bytes(self, shape: kernels.SearchShape) -> int:
        """Bytes of state that one slot of a prefix search takes."""

    def wfst_slot_bytes(self, shape: kernels.WfstShape) -> int:
        """Bytes that one slot of a WFST search takes."""

    def placed_row(
        self,
        lm: kernels.SearchLm,
        small: kernels.cpu.PlacedLm,
        large: Sequence[kernels.cpu.PlacedLm],
        members: DlpackCapsule,
    ) -> bytes:
        """The bytes that kernels read of a search's models."""

    def wfst_workspace_bytes(self, shape: kernels.WfstShape) -> int:
        """Bytes that one block of a WFST search works in."""


def has_half(kind: str) -> bool:
    """Whether kernels for devices of this kind were built."""
    return hasattr(kernels, kind)


def native_half(device: torch.device) -> NativeHalf:
    """The kernels for tensors on this device. Raises BackendMissing where there are none."""
    half = getattr(kernels, device.type, None)
    if half is None:
        hint = " (build it where nvcc is: make gpu)" if device.type == "cuda" else ""
        raise BackendMissing(f"the native kernels have no half for {device.type!r}{hint}")
    return cast(NativeHalf, half)
