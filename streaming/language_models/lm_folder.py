"""A folder of language models, looked at when somebody asks: there is no thread that watches."""

from __future__ import annotations

import logging
import math
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from earshot.decoder_kernels.errors import LmImageError
from earshot.decoder_kernels.lm.lm_header import HEADER_BYTES, LmHeader
from earshot.streaming.lm_mix import is_name

log = logging.getLogger(__name__)

SUFFIX = ".lm"
LOOK_EVERY_S = 1.0
"""A folder may have thousands of models."""

MOST_TOLD = 1000
"""Files of which the log says why they are left alone."""

Identity: TypeAlias = tuple[int, int, int, int]
"""Device, inode, time of the last change and size: a file that was replaced has another."""


@dataclass(frozen=True)
class LmFile:
    """A model's file. header: None where it is no image, and `fault` says why."""

    name: str
    path: Path
    identity: Identity
    header: LmHeader | None
    fault: str = ""


class LmFolder:
    """The `NAME.lm` that there are; other files are told of once, and left alone.

    clock: seconds, by which all of the folder is looked at once in `LOOK_EVERY_S` at most.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._clock = clock
        self._looked_s = -math.inf
        self._known: dict[str, LmFile] = {}
        self._told: set[str] = set()

    def find(self, name: str) -> LmFile | None:
        """The model of a name, as its file is now; None where there is none."""
        file = self._file(name, self.path / f"{name}{SUFFIX}")
        if file is None:
            self._known.pop(name, None)
        else:
            self._known[name] = file
        return file

    def files(self) -> Mapping[str, LmFile]:
        """The models by name; they may have changed `LOOK_EVERY_S` ago, but for those found since.

        Who asks for names that are not there asks for this, again and again.
        """
        now_s = self._clock()
        if now_s - self._looked_s >= LOOK_EVERY_S:
            self._looked_s = now_s
            self._known = {file.name: file for file in self._look()}
        return dict(sorted(self._known.items()))

    def _look(self) -> Iterator[LmFile]:
        """Each model's file; only those that have changed, or were faulty, are read."""
        try:
            entries = sorted(os.scandir(self.path), key=lambda entry: entry.name)
        except OSError as error:
            self._tell(f"the folder {self.path} cannot be read: {_why(error)}")
            return
        for entry in entries:
            name = entry.name.removesuffix(SUFFIX)
            if name == entry.name or not is_name(name):
                self._tell(f"{entry.name!r} is left alone: it is no NAME{SUFFIX}")
            elif (file := self._file(name, Path(entry.path))) is not None:
                yield file

    def _file(self, name: str, path: Path) -> LmFile | None:
        """None where there is none by now."""
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._tell(f"{path.name} cannot be read: {_why(error)}")
            return None
        known = self._known.get(name)
        if known is not None and not known.fault and known.identity == identity_of(found):
            return known  # a fault may have gone without a trace, as of permissions
        file = _read(name, path, found)
        if file.fault:
            self._tell(file.fault)
        return file

    def _tell(self, text: str) -> None:
        """Write to the log what was not said before."""
        if text not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(text)
            log.warning("language models: %s", text)


def _read(name: str, path: Path, found: os.stat_result) -> LmFile:
    identity = identity_of(found)
    if not stat.S_ISREG(found.st_mode):  # to open a pipe would wait for who writes to it
        return LmFile(name, path, identity, None, f"{path.name} is no file")
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())  # another may have taken the name since
            identity = identity_of(found)
            header = LmHeader.read(path.name, file.read(HEADER_BYTES), found.st_size)
    except LmImageError as error:
        return LmFile(name, path, identity, None, str(error))
    except OSError as error:
        return LmFile(name, path, identity, None, f"{path.name} cannot be read: {_why(error)}")
    return LmFile(name, path, identity, header)


def identity_of(found: os.stat_result) -> Identity:
    """The identity of a file, as the system tells of it."""
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__
