"""How many cores there are for this process, whatever the machine has."""

import os
from pathlib import Path

CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Of a container's: microseconds of all cores together in each period, or "max", and the period."""


def usable_cores(quota: Path = CGROUP_QUOTA) -> int:
    """Cores that the process may run on, no more than its container is given; 1 at least."""
    return max(min(_allowed(), _given(quota)), 1)


def _allowed() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _given(quota: Path) -> int:
    """Whole cores, rounded up; as many as the machine has where nothing is said."""
    try:
        share, period = quota.read_text().split()
        return -(-int(share) // int(period))
    except (OSError, ValueError):  # no such group, or "max"
        return os.cpu_count() or 1
