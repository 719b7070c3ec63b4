"""Memory that was freed, back to the system."""

from __future__ import annotations

import ctypes
import gc
import sys


def return_freed_memory() -> None:
    """Return what loading a model has left behind, which glibc keeps for itself.

    Of no effect where the C library is another.
    """
    gc.collect()
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
