"""An open .nemo archive, read in place."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from earshot.models.checkpoints.nemo.tar_members import BLOCK, MAGIC, MAGIC_AT, TarMember, TarReader
from earshot.models.checkpoints.nemo.unpacked import GZIP_MAGIC, open_tar
from earshot.models.checkpoints.nemo.window import open_window
from earshot.models.errors import (
    CheckpointError,
    NotACheckpoint,
    UnsafeCheckpoint,
    quote,
)

CONFIG, WEIGHTS = "model_config.yaml", "model_weights.ckpt"
ARTIFACT = "nemo:"
"""Before a member's name, where the configuration names one."""


@dataclass(frozen=True)
class NemoArchive:
    """Members of an archive by name; `source` names it in errors."""

    source: str
    file: IO[bytes]
    members: dict[str, TarMember]

    def member(self, name: str) -> TarMember:
        """The only member of that name, in whatever folder. Raises NotACheckpoint."""
        return self._only(name, [path for path in self.members if _last_part(path) == name])

    def artifact(self, named: object, suffix: str) -> TarMember:
        """The member that the configuration names "nemo:…", else the only one that ends so.

        Raises NotACheckpoint.
        """
        if isinstance(named, str) and named.startswith(ARTIFACT):
            name = named.removeprefix(ARTIFACT)
            if name not in self.members:
                raise NotACheckpoint(f"{self.source} lacks {quote(name)}, which it names")
            return self.members[name]
        return self._only(suffix, [path for path in self.members if path.endswith(suffix)])

    def _only(self, name: str, paths: list[str]) -> TarMember:
        if len(paths) != 1:
            count = "no" if not paths else "more than one"
            raise NotACheckpoint(f"{self.source} holds {count} {name}")
        return self.members[paths[0]]

    def open(self, member: TarMember) -> IO[bytes]:
        """The member as a file to seek in."""
        return open_window(self.file, member.offset, member.size)

    def read(self, member: TarMember, limit: int) -> bytes:
        """All of a small member. Raises UnsafeCheckpoint for one over `limit` bytes."""
        if member.size > limit:
            raise UnsafeCheckpoint(
                f"{self.source}: {member.name} is too large, {member.size} bytes"
            )
        with self.open(member) as file:
            return file.read(member.size)

    def text(self, member: TarMember, limit: int) -> str:
        """The same as text. Raises NotACheckpoint for what is none."""
        try:
            return self.read(member, limit).decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotACheckpoint(f"{self.source}: {member.name} is no text: {error}") from error


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]


@contextmanager
def open_nemo(path: Path) -> Iterator[NemoArchive]:
    """An archive to read from inside the `with`.

    Raises NotACheckpoint for what is no tar, gzip of one, or not all of it; UnsafeCheckpoint for
    one that would do harm.
    """
    with open_tar(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise NotACheckpoint(f"{path} is empty")
        yield NemoArchive(str(path), file, TarReader(file, size, str(path)).read())


def is_nemo(path: Path) -> bool:
    """Whether a file is an archive of NeMo's, by its name or its first bytes."""
    if not path.is_file():
        return False
    if path.suffix == ".nemo":
        return True
    try:
        return _begins_as_tar(path) and _holds_config(path)
    except (CheckpointError, OSError, EOFError, zlib.error):
        return False


def only_nemo(directory: Path) -> Path | None:
    """The one .nemo that lies in a directory; None where there is none or more than one."""
    found = all_nemo(directory)
    return found[0] if len(found) == 1 else None


def all_nemo(directory: Path) -> list[Path]:
    """Every .nemo that lies in a directory, by name."""
    return sorted(path for path in directory.glob("*.nemo") if path.is_file())


def _begins_as_tar(path: Path) -> bool:
    with path.open("rb") as file:
        if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC:
            file.seek(0)
            block = gzip.GzipFile(fileobj=file).read(BLOCK)
        else:
            file.seek(0)
            block = file.read(BLOCK)
    return block[MAGIC_AT : MAGIC_AT + len(MAGIC)] == MAGIC


def _holds_config(path: Path) -> bool:
    """A gzip is taken at its word: to ask it would mean to unpack it."""
    with path.open("rb") as file:
        if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC:
            return True
        members = TarReader(file, path.stat().st_size, str(path)).read()
    return any(_last_part(path) == CONFIG for path in members)
