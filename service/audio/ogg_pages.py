"""Whether all pages of an Ogg file are there and sound (RFC 3533), which decoders pass over."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from earshot.service.errors import UndecodableAudio

_HEADER = struct.Struct("<4sBBqIIIB")
_CRC_AT = 22
_FIRST_OF_STREAM, _LAST_OF_STREAM = 2, 4
_MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


@dataclass(frozen=True)
class _Page:
    flags: int
    stream: int
    number: int


def check_ogg_pages(file: BinaryIO) -> None:
    """Read the file from page to page.

    Raises:
        UndecodableAudio: pages are damaged, missing or cut off, or another recording follows.
    """
    numbers: dict[int, int] = {}
    open_streams: set[int] = set()
    for page in _pages(file):
        if page.flags & _FIRST_OF_STREAM:
            if numbers and not open_streams:
                raise UndecodableAudio("the Ogg file holds several recordings: send each by itself")
            open_streams.add(page.stream)
        elif page.number != numbers.get(page.stream, page.number) + 1:
            raise UndecodableAudio("the Ogg file is damaged: a page is missing")
        numbers[page.stream] = page.number
        if page.flags & _LAST_OF_STREAM:
            open_streams.discard(page.stream)
    if open_streams or not numbers:
        raise UndecodableAudio("the Ogg file is cut: its last page is missing")


def _pages(file: BinaryIO) -> Iterator[_Page]:
    file.seek(0)
    while len(header := file.read(_HEADER.size)) == _HEADER.size:
        magic, version, flags, _, stream, number, crc, segments = _HEADER.unpack(header)
        if magic != b"OggS" or version:
            raise UndecodableAudio("the Ogg file is damaged: something lies between its pages")
        sizes = file.read(segments)
        body = file.read(sum(sizes))
        if len(sizes) < segments or len(body) < sum(sizes):
            raise UndecodableAudio("the Ogg file is cut within a page")
        blanked = header[:_CRC_AT] + bytes(4) + header[_CRC_AT + 4 :]
        if _ogg_crc(blanked + sizes + body) != crc:
            raise UndecodableAudio("the Ogg file is damaged: a page does not match its checksum")
        yield _Page(flags, stream, number)


def _ogg_crc(page: bytes) -> int:
    """Ogg's checksum by zlib's: the same polynomial from the other end, without complements."""
    register = zlib.crc32(page.translate(_MIRRORED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{register:032b}"[::-1], 2)
