"""What a folder holds already, so that a run that was cut goes on where it was."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from earshot.training.synthetic.errors import FolderTaken, SynthesisError


@dataclass(frozen=True)
class Entry:
    """Recording `index`: its file's size in bytes and checksum, or why it was rejected."""

    index: int
    size: int = 0
    crc: int = 0
    samples: int = 0
    rejected: str = ""

    @classmethod
    def of(cls, index: int, file: bytes, samples: int) -> Entry:
        """A recording that was written as `file`."""
        return cls(index, len(file), zlib.crc32(file), samples)

    @property
    def path(self) -> Path:
        """Relative to the folder; a thousand files to a directory."""
        return Path("audio") / f"{self.index // 1000:04d}" / f"{self.index:07d}.opus"

    def holds(self, folder: Path) -> bool:
        """Whether the file is there as it was written, or known to be no good."""
        if self.rejected:
            return True
        try:
            file = (folder / self.path).read_bytes()
        except FileNotFoundError:
            return False
        return (len(file), zlib.crc32(file)) == (self.size, self.crc)


class Journal:
    """A line for each recording made; the last one of an index counts.

    Raises FolderTaken if the folder belongs to another plan, or holds files of none.
    """

    def __init__(self, folder: Path, identity: Mapping[str, object]) -> None:
        self._path = folder / "journal.jsonl"
        self.entries: dict[int, Entry] = {}
        try:
            self._claim(folder, identity)
        except (OSError, ValueError, TypeError) as error:
            raise SynthesisError(f"cannot go on in {folder}: {error}") from error

    def _claim(self, folder: Path, identity: Mapping[str, object]) -> None:
        plan = folder / "plan.json"
        written = json.dumps(identity, indent=2) + "\n"
        folder.mkdir(parents=True, exist_ok=True)
        if plan.is_file():
            _require_same(folder, json.loads(plan.read_text(encoding="utf-8")), identity)
            self._read()
        elif any(folder.iterdir()):
            raise FolderTaken(f"{folder} is not empty, and not made by a plan")
        else:
            plan.write_text(written, encoding="utf-8")

    def _read(self) -> None:
        if not self._path.is_file():
            return
        lines = self._path.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        if len(whole) < len(lines):  # a run was cut within its last line
            self._path.write_text("".join(whole), encoding="utf-8")
        for line in whole:
            entry = Entry(*json.loads(line))
            self.entries[entry.index] = entry

    def add(self, entry: Entry) -> None:
        """Remember what was made."""
        if self.entries.get(entry.index) == entry:
            return
        self.entries[entry.index] = entry
        fields = [entry.index, entry.size, entry.crc, entry.samples, entry.rejected]
        with self._path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(fields) + "\n")


def _require_same(folder: Path, there: Mapping[str, object], ours: Mapping[str, object]) -> None:
    different = [key for key in {**there, **ours} if there.get(key) != ours.get(key)]
    if different:
        raise FolderTaken(f"{folder} holds speech of a plan with other {', '.join(different)}")
