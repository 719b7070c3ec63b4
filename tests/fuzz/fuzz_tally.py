"""What a fuzzer did, which errors refused it, and whether memory grew."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from search_trial import Outcome

FAST_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None
EPISODES_OF_A_LONG_RUN = 200
MAX_GROWTH_MB = 128.0
"""Sanitizers give little memory back: 29 and 74 MB were seen in runs of a million operations that
levelled off without them. What leaks, LeakSanitizer finds."""


@dataclass
class Tally:
    """What was done, and which errors refused it."""

    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, outcome: Outcome, of: str = "") -> None:
        """Count it as one ``of`` something."""
        what = f"{of} {outcome.what}".strip()
        self.done[what] += outcome.done
        if outcome.refused:
            self.refused[what, outcome.error] += outcome.refused

    def table(self) -> str:
        """A line for each kind."""
        rows = []
        for what, count in sorted(self.done.items()):
            errors = ", ".join(
                f"{name} {n:,}" for (kind, name), n in sorted(self.refused.items()) if kind == what
            )
            rows.append(f"{what:<22} {count:>9,}   {errors}")
        return "\n".join(rows)


def resident_mb() -> float:
    """Memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def growth(memory_mb: Sequence[float]) -> str:
    """Compare the second fifth of a run with the last: the first may still fill caches."""
    fifth = max(1, len(memory_mb) // 5)
    before, after = median(memory_mb[fifth : 2 * fifth] or memory_mb), median(memory_mb[-fifth:])
    found = f"memory {before:.0f} MB, later {after:.0f} MB"
    if len(memory_mb) >= EPISODES_OF_A_LONG_RUN:
        assert after <= before + MAX_GROWTH_MB, found
    return found
