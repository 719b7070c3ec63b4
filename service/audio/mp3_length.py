"""How long an MP3 file says it is: the Xing header that encoders put into its first frame."""

import struct
from dataclasses import dataclass
from typing import BinaryIO

_RATES_HZ = (44_100, 48_000, 32_000)  # of MPEG 1; halved in MPEG 2, and again in 2.5
_ID3_HEADER_BYTES = 10
_FRAME_HEAD_BYTES = 64  # more than lies before the end of the count
_HAS_COUNT = 1


@dataclass(frozen=True)
class _Frame:
    """What the first frame says of all: samples in each, their rate, where its own data begin."""

    samples: int
    rate_hz: int
    data_at: int


def stated_mp3_s(file: BinaryIO) -> float | None:
    """Return the seconds that the file states, None where it has no such header."""
    _skip_id3(file)
    head = file.read(_FRAME_HEAD_BYTES)
    frame = _frame(head)
    if frame is None or head[frame.data_at : frame.data_at + 4] not in (b"Xing", b"Info"):
        return None
    flags, frames = struct.unpack_from(">II", head, frame.data_at + 4)
    return frames * frame.samples / frame.rate_hz if flags & _HAS_COUNT else None


def _skip_id3(file: BinaryIO) -> None:
    """Go behind the tags before the sound; their sizes have seven bits in each byte."""
    while True:
        start = file.tell()
        header = file.read(_ID3_HEADER_BYTES)
        if len(header) < _ID3_HEADER_BYTES or header[:3] != b"ID3":
            file.seek(start)
            return
        size = sum((byte & 0x7F) << 7 * at for at, byte in enumerate(reversed(header[6:])))
        footer = _ID3_HEADER_BYTES if header[5] & 0x10 else 0
        file.seek(size + footer, 1)


def _frame(head: bytes) -> _Frame | None:
    """Read the header of a layer III frame (ISO/IEC 11172-3 section 2.4.2.3)."""
    if len(head) < _FRAME_HEAD_BYTES or head[0] != 0xFF or head[1] & 0xE6 != 0xE2:
        return None
    version, rate, mono = head[1] >> 3 & 3, head[2] >> 2 & 3, head[3] >> 6 == 3
    if version == 1 or rate == 3:
        return None
    first = version == 3
    side_bytes = (17 if mono else 32) if first else (9 if mono else 17)
    halvings = {3: 0, 2: 1, 0: 2}[version]
    return _Frame(1152 if first else 576, _RATES_HZ[rate] >> halvings, 4 + side_bytes)
