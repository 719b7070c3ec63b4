"""Folders cut into pieces small enough for a narrow way, and put together again."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, cast

from earshot.training.errors import BrokenPieces

TABLE_FILE = "pieces.json"
READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Piece:
    """A file that holds a stretch of a packed folder."""

    name: str
    size: int
    sha256: str


class _Cutter(io.RawIOBase):
    """Takes a stream of bytes and writes it to files of `limit` bytes each."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder, self._limit = folder, limit
        self._held = bytearray()
        self.pieces: list[Piece] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]  # bytes are all that tarfile writes
        self._held += data
        while len(self._held) >= self._limit:
            self._put(self._held[: self._limit])
            del self._held[: self._limit]
        return len(data)

    def finish(self) -> None:
        """Writes what is left."""
        if self._held:
            self._put(self._held)
            self._held = bytearray()

    def _put(self, data: bytearray) -> None:
        name = f"piece-{len(self.pieces):03d}"
        (self._folder / name).write_bytes(data)
        self.pieces.append(Piece(name, len(data), hashlib.sha256(data).hexdigest()))


def cut(files: Mapping[str, Path], folder: Path, piece_bytes: int) -> list[Piece]:
    """Packs files under the names given into pieces in `folder`, with a table of them.

    Pieces that were there are replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("piece-*"):
        old.unlink()
    cutter = _Cutter(folder, piece_bytes)
    # Compression is for the headers: half a kilobyte for each of thousands of short recordings.
    with tarfile.open(fileobj=cutter, mode="w|gz", dereference=True) as archive:
        for name, path in sorted(files.items()):
            archive.add(path, arcname=name, recursive=False)
    cutter.finish()
    table = json.dumps([asdict(piece) for piece in cutter.pieces], indent=1)
    (folder / TABLE_FILE).write_text(table + "\n", encoding="utf-8")
    return cutter.pieces


def folder_files(folder: Path) -> dict[str, Path]:
    """All files below a folder, by their names relative to it."""
    return {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}


def read_table(folder: Path) -> list[Piece]:
    """The pieces that belong together. Raises BrokenPieces if their table is not there."""
    try:
        rows = json.loads((folder / TABLE_FILE).read_text(encoding="utf-8"))
        return [Piece(**row) for row in rows]
    except (OSError, ValueError, TypeError) as error:
        raise BrokenPieces(f"no table of pieces at {folder / TABLE_FILE}: {error}") from error


def missing(folder: Path) -> list[str]:
    """Names of the pieces that are not here yet, or not whole."""
    return [
        piece.name
        for piece in read_table(folder)
        if not (folder / piece.name).is_file() or (folder / piece.name).stat().st_size != piece.size
    ]


def join(folder: Path, into: Path, rename: Callable[[str], str] = str) -> None:
    """Unpacks the pieces in `folder` below `into`, over what is there.

    A file that was packed as `name` becomes `rename(name)`. Raises BrokenPieces, before anything
    is written, if a piece is missing or not what it was; and for a name that leads elsewhere.
    """
    absent = missing(folder)
    if absent:
        raise BrokenPieces(f"{folder} lacks {', '.join(absent)}")
    pieces = read_table(folder)
    for piece in pieces:
        with (folder / piece.name).open("rb") as data:
            if hashlib.file_digest(data, "sha256").hexdigest() != piece.sha256:
                raise BrokenPieces(f"{folder / piece.name} is damaged")
    into.mkdir(parents=True, exist_ok=True)
    stream = _Joined(_chunks([folder / piece.name for piece in pieces]))
    with tarfile.open(fileobj=cast(BinaryIO, stream), mode="r|gz") as archive:
        for member in archive:
            _unpack(archive, member, into / rename(member.name), into)


def _unpack(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path, into: Path) -> None:
    """One file; what is none, or would come to lie outside of `into`, is refused.

    By hand: Python 3.11.2, which Debian 12 has, knows no `tarfile.data_filter`.
    """
    data = archive.extractfile(member) if member.isreg() else None
    if data is None or not path.resolve().is_relative_to(into.resolve()):
        raise BrokenPieces(f"{member.name} cannot be unpacked below {into}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with data, path.open("wb") as file:
        shutil.copyfileobj(data, file)
    path.chmod(0o700 if member.mode & 0o100 else 0o600)
    os.utime(path, (member.mtime, member.mtime))


class _Joined(io.RawIOBase):
    """Files read one after another."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._held = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while len(self._held) < size or size < 0:
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            self._held += chunk
        size = len(self._held) if size < 0 else size
        taken, self._held = self._held[:size], self._held[size:]
        return taken


def _chunks(paths: list[Path]) -> Iterator[bytes]:
    for path in paths:
        with path.open("rb") as data:
            while chunk := data.read(READ_BYTES):
                yield chunk
