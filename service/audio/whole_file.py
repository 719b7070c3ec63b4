"""Whether a file is all there by its own word, and alone, where no decoder asks."""

import mmap
import struct
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from earshot.service.audio.containers import (
    AIFF,
    AU,
    CAF,
    FLAC,
    OGG,
    SNIFF_BYTES,
    W64,
    WAV,
    Container,
    sniff,
)
from earshot.service.audio.ogg_pages import check_ogg_pages
from earshot.service.errors import UndecodableAudio

UNKNOWN_SIZE = 0xFFFF_FF00  # writers that cannot seek back leave nearly 2^32, or 0
_UNKNOWN_SIZE_64 = 1 << 62
_MAX_CHUNKS = 1000
_W64_CHUNK_BYTES = 24  # a GUID that begins with the name, and the size of it all
# The marker and the head of the block that must follow it; what follows may be the last block.
_FLAC_STARTS = (b"fLaC\x00\x00\x00\x22", b"fLaC\x80\x00\x00\x22")


def check_is_whole(path: Path, container: Container) -> None:
    """Look at the sizes in a file's header, or at its pages.

    Raises:
        UndecodableAudio: it says more than is there, is damaged, or another recording follows, of
            which decoders would say nothing.
    """
    check = _CHECKS.get(container)
    if check is None:
        return
    with path.open("rb") as file:
        size = path.stat().st_size
        end = check(file, size)
        # A header may name a place that no disk has, or its own beginning, which is no other file.
        if end is not None and 0 < end < size:
            file.seek(end)
            if sniff(file.read(SNIFF_BYTES)) is container:
                raise _several(container)


def _check_wav(file: BinaryIO, file_size: int) -> int | None:
    whole = int.from_bytes(file.read(8)[4:], "little")
    claimed, start = _wav_data_chunk(file)
    if claimed >= UNKNOWN_SIZE:
        return None
    _check_holds(WAV, claimed, file_size - start)
    return 8 + whole + whole % 2


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


def _check_aiff(file: BinaryIO, file_size: int) -> int:
    (claimed,) = struct.unpack(">4xI", file.read(8))
    _check_holds(AIFF, claimed, file_size - 8)
    return 8 + int(claimed)


def _check_au(file: BinaryIO, file_size: int) -> int | None:
    header = file.read(12)
    start, claimed = int.from_bytes(header[4:8], "big"), int.from_bytes(header[8:], "big")
    if claimed >= UNKNOWN_SIZE:
        return None
    _check_holds(AU, claimed, file_size - start)
    return start + claimed


def _check_w64(file: BinaryIO, file_size: int) -> int | None:
    whole = int.from_bytes(file.read(24)[16:], "little")
    file.seek(40)
    for _ in range(_MAX_CHUNKS):
        if len(header := file.read(_W64_CHUNK_BYTES)) < _W64_CHUNK_BYTES:
            return None
        name, size = struct.unpack("<4s12xQ", header)
        if size >= _UNKNOWN_SIZE_64:
            return None
        if name == b"data":
            held = file_size - file.tell()
            _check_holds(W64, size - _W64_CHUNK_BYTES, held)
            return whole if whole < _UNKNOWN_SIZE_64 else None
        end = file.tell() + max(0, size - _W64_CHUNK_BYTES) + -size % 8
        if end > file_size:  # further than some file systems can be asked to go
            return None
        file.seek(end)
    raise UndecodableAudio(f"no audio within {_MAX_CHUNKS} chunks of the Wave64 file")


def _check_caf(file: BinaryIO, file_size: int) -> int | None:
    file.seek(8)
    for _ in range(_MAX_CHUNKS):
        if len(header := file.read(12)) < 12:
            return None
        name, size = struct.unpack(">4sq", header)
        if size < 0:  # up to the end of the file, whatever that is
            return None
        _check_holds(CAF, size, file_size - file.tell())
        if name == b"data":
            return file.tell() + int(size)
        file.seek(size, 1)
    return None


def _check_flac(file: BinaryIO, file_size: int) -> None:
    """Find a second beginning: how long the first recording's frames are only decoding tells."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if any(content.find(start, SNIFF_BYTES) >= 0 for start in _FLAC_STARTS):
            raise _several(FLAC)


def _check_ogg(file: BinaryIO, file_size: int) -> None:
    check_ogg_pages(file)


def _check_holds(container: Container, claimed: int, held: int) -> None:
    if claimed > held:
        raise UndecodableAudio(
            f"the {container.name} file is cut: {held} of {claimed} bytes are there"
        )


def _several(container: Container) -> UndecodableAudio:
    return UndecodableAudio(
        f"the {container.name} file holds several recordings: send each by itself"
    )


_CHECKS: dict[Container, Callable[[BinaryIO, int], int | None]] = {
    WAV: _check_wav,
    AIFF: _check_aiff,
    AU: _check_au,
    W64: _check_w64,
    CAF: _check_caf,
    FLAC: _check_flac,
    OGG: _check_ogg,
}
