"""Unpacked copies of packed files, in a folder of the user's: a second start maps the first's work.

A copy goes by the digest of what was packed, so that it is never one of another file. That it is
whole is for its reader to check, as of any file of its kind. Where no folder is the user's alone,
or nothing can be written, there are no copies.
"""

from __future__ import annotations

import hashlib
import logging
import mmap
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 1 << 30
"""Of all copies; the one used longest ago goes first."""
_OTHERS_MAY_WRITE = 0o022
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class UnpackedCopies:
    """Copies in a folder, at most `most_bytes` of them."""

    folder: Path
    most_bytes: int = MOST_BYTES

    @classmethod
    def of_user(cls, environment: Mapping[str, str] = os.environ) -> UnpackedCopies | None:
        """Copies below ``XDG_CACHE_HOME``, or ``~/.cache``; None for a user without a home."""
        named = environment.get("XDG_CACHE_HOME", "")
        try:
            base = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
        except RuntimeError:
            return None
        return cls(base / "earshot" / "unpacked")

    def find(self, digest: str) -> mmap.mmap | None:
        """The copy that goes by `digest`, mapped; None if there is none."""
        try:
            if not self._is_ours(self.folder.lstat()):
                return None
            descriptor = os.open(self._path(digest), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            if not self._is_ours(os.fstat(descriptor)):
                return None
            with suppress(OSError):  # a disk that is only read keeps no times
                os.utime(descriptor)
            return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            return None
        finally:
            os.close(descriptor)

    def keep(self, digest: str, content: bytes) -> None:
        """Write a copy; without room, or a folder of the user's own, nothing is kept."""
        if len(content) > self.most_bytes:
            return
        partial = self.folder / f"{digest}.partial-{os.getpid()}"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._is_ours(self.folder.lstat()):
                raise PermissionError(0, "others may write there", str(self.folder))
            self._make_room(len(content))
            try:
                with partial.open("xb") as file:
                    file.write(content)
                partial.replace(self._path(digest))
            finally:
                partial.unlink(missing_ok=True)
        except OSError as error:
            log.info("no unpacked copy is kept in %s: %s", self.folder, error.strerror)

    def discard(self, digest: str) -> None:
        """Forget a copy that is damaged."""
        try:
            self._path(digest).unlink(missing_ok=True)
        except OSError as error:
            log.info("a damaged copy stays in %s: %s", self.folder, error.strerror)

    def _path(self, digest: str) -> Path:
        return self.folder / digest

    def _make_room(self, size: int) -> None:
        left = self.most_bytes - size
        for found, path in sorted(self._files(), key=lambda each: -each[0].st_mtime):
            left -= found.st_size
            if left < 0:
                path.unlink(missing_ok=True)

    def _files(self) -> Iterator[tuple[os.stat_result, Path]]:
        for path in self.folder.iterdir():
            try:
                yield path.lstat(), path
            except FileNotFoundError:  # another process made room
                continue

    @staticmethod
    def _is_ours(found: os.stat_result) -> bool:
        is_kind = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        return is_kind and found.st_uid == os.getuid() and not found.st_mode & _OTHERS_MAY_WRITE


def digest_of(content: bytes | mmap.mmap) -> str:
    """The name of a copy of packed content."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
