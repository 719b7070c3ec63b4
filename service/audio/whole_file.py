"""Whether a file is all there by its own word, where no decoder asks."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from service.audio.containers import AIFF, CAF, OGG, WAV, Container
from service.audio.ogg_pages import check_ogg_pages
from service.errors import UndecodableAudio

UNKNOWN_SIZE = 0xFFFF_FF00  # writers that cannot seek back leave nearly 2^32, or 0
_MAX_CHUNKS = 1000


def check_is_whole(path: Path, container: Container) -> None:
    """Look at the sizes in a file's header, or at its pages.

    Raises:
        UndecodableAudio: it says more than is there, or is damaged.
    """
    check = _CHECKS.get(container)
    if check is not None:
        with path.open("rb") as file:
            check(file, path.stat().st_size)


def _check_wav(file: BinaryIO, file_size: int) -> None:
    claimed, start = _wav_data_chunk(file)
    if claimed < UNKNOWN_SIZE:
        _check_holds("WAV", claimed, file_size - start)


def _wav_data_chunk(file: BinaryIO) -> tuple[int, int]:
    """Return the claimed size and the position of a WAV file's audio; zeros when not found."""
    file.seek(12)
    for _ in range(_MAX_CHUNKS):
        if len(header := file.read(8)) < 8:
            return 0, 0
        name, size = struct.unpack("<4sI", header)
        if name == b"data":
            return size, file.tell()
        file.seek(size + size % 2, 1)
    raise UndecodableAudio(f"no audio within {_MAX_CHUNKS} chunks of the WAV file")


def _check_aiff(file: BinaryIO, file_size: int) -> None:
    (claimed,) = struct.unpack(">4xI", file.read(8))
    _check_holds("AIFF", claimed, file_size - 8)


def _check_caf(file: BinaryIO, file_size: int) -> None:
    file.seek(8)
    for _ in range(_MAX_CHUNKS):
        if len(header := file.read(12)) < 12:
            return
        name, size = struct.unpack(">4sq", header)
        if size < 0:  # up to the end of the file, whatever that is
            return
        _check_holds("CAF", size, file_size - file.tell())
        if name == b"data":
            return
        file.seek(size, 1)


def _check_ogg(file: BinaryIO, file_size: int) -> None:
    check_ogg_pages(file)


def _check_holds(name: str, claimed: int, held: int) -> None:
    if claimed > held:
        raise UndecodableAudio(f"the {name} file is cut: {held} of {claimed} bytes are there")


_CHECKS: dict[Container, Callable[[BinaryIO, int], None]] = {
    WAV: _check_wav,
    AIFF: _check_aiff,
    CAF: _check_caf,
    OGG: _check_ogg,
}
