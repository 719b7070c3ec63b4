"""The compiled kernels: which half serves which device."""

from types import ModuleType

import torch

from decoder_kernels.errors import BackendMissing

try:
    from decoder_kernels import _native
except ImportError as error:  # a checkout that was never built
    _missing: ImportError | None = error
else:
    _missing = None


def native_module() -> ModuleType:
    """The compiled module. Raises BackendMissing when it was not built."""
    if _missing is not None:
        raise BackendMissing("the native kernels are not built: pip install -e .") from _missing
    return _native


def native_half(device: torch.device) -> ModuleType:
    """The kernels for tensors on this device.

    Raises BackendMissing when they were not built, or when there are none for such a device.
    """
    half = getattr(native_module(), device.type, None)
    if not isinstance(half, ModuleType):
        raise BackendMissing(
            f"the native kernels were built without a half for {device.type!r}"
            + (" (build with nvcc: make gpu)" if device.type == "cuda" else "")
        )
    return half
