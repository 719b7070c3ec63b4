"""Memory that the building commands may hold, as ``--memory`` says."""

import os

from earshot.service.errors import StartupError

MB = 1 << 20


def require_memory(megabytes: int) -> None:
    """Known before the work: some, and no more than the machine has. Raises StartupError."""
    if megabytes < 1:
        raise StartupError(f"--memory is {megabytes}")
    there_is = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MB
    if megabytes > there_is:
        raise StartupError(f"--memory is {megabytes}; this machine has {there_is} MB")
