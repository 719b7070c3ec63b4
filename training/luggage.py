"""What each call carries to a host that lets so much in and no more."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from earshot.training.errors import LuggageError
from earshot.training.pieces import TABLE_FILE, folder_files, read_table

MIB = 1 << 20
WHEELS_FOLDER = "wheels"


@dataclass(frozen=True)
class Load:
    """The parts of one call's luggage, in bytes."""

    checkout: int
    wheels: int
    piece: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.checkout + self.wheels + self.piece

    def __str__(self) -> str:
        parts = {"checkout": self.checkout, "wheels": self.wheels, "piece": self.piece}
        named = (f"{name} {size / MIB:.1f}" for name, size in parts.items() if size)
        return f"{self.total / MIB:.1f} MiB ({', '.join(named)})"


def checkout_bytes(checkout: Path) -> int:
    """Size of what git tracks in a checkout, or does not ignore: such files travel by themselves.

    Raises LuggageError where git knows of no checkout.
    """
    command = ["git", "-C", str(checkout), "ls-files", "-zco", "--exclude-standard"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise LuggageError(f"{checkout} cannot be weighed: git lists no files of it") from error
    paths = {checkout / name for name in done.stdout.split("\0") if name}
    return sum(path.lstat().st_size for path in paths if path.is_symlink() or path.is_file())


def loads(checkout: Path, luggage: Path) -> list[Load]:
    """What the calls carry that bring the pieces in `luggage`; wheels go with the first.

    Raises BrokenPieces if their table is not there, and LuggageError like `checkout_bytes`.
    """
    tree = checkout_bytes(checkout)
    table = (luggage / TABLE_FILE).stat().st_size
    wheels = sum(path.stat().st_size for path in folder_files(luggage / WHEELS_FOLDER).values())
    return [
        Load(tree, 0 if number else wheels, table + piece.size)
        for number, piece in enumerate(read_table(luggage))
    ]


def check_loads(calls: list[Load], limit_bytes: int) -> None:
    """Raises LuggageError for the first call that would carry more than that."""
    for number, load in enumerate(calls, start=1):
        if load.total > limit_bytes:
            raise LuggageError(
                f"call {number} would carry {load}, and {limit_bytes / MIB:g} go in: a checkout "
                "without models/bundled is enough (docs/training.md), or make smaller pieces"
            )
