"""Whether an MP4 can be heard while it comes: its description has to stand before its sound."""

import struct

from earshot.service.errors import UndecodableAudio

_HEADER_BYTES = 16  # of a box whose size takes 64 bits
_SIZE_FOLLOWS = 1


class Mp4Order:
    """Looks at the outermost boxes as they come, until the description (``moov``) does."""

    def __init__(self) -> None:
        self._head = b""
        self._to_skip = 0
        self._is_known = False

    def look(self, data: bytes) -> None:
        """Look at the next bytes. Raises UndecodableAudio for sound (``mdat``) that comes first."""
        while data and not self._is_known:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            missing = _HEADER_BYTES - len(self._head)
            self._head, data = self._head + data[skipped:][:missing], data[skipped:][missing:]
            if len(self._head) == _HEADER_BYTES:
                data, self._head = self._head + data, b""
                self._look_at_box(data)

    def _look_at_box(self, head: bytes) -> None:
        size, name, long_size = struct.unpack_from(">I4sQ", head)
        if name == b"mdat":
            raise UndecodableAudio(
                "this MP4/M4A/MOV has its description behind its sound and cannot be streamed: "
                "write it in fragments or with faststart, or POST the file to /v1/listen"
            )
        self._to_skip = long_size if size == _SIZE_FOLLOWS else size
        # FFmpeg is to say what it thinks of a box that is smaller than its own header.
        self._is_known = name == b"moov" or self._to_skip < 8
