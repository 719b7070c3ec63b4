"""The file that FFmpeg reads: what a client sends, as far as it makes sense to read on."""

from earshot.service.audio.containers import MP4, Container
from earshot.service.audio.unpacking.byte_pipe import BytePipe
from earshot.service.audio.unpacking.mp4_order import Mp4Order
from earshot.service.errors import UndecodableAudio

MAX_SILENT_BYTES = 4 << 20
"""Between two pieces of sound: room for the picture of a cover, or a second of a video."""

FREE_S = 60.0
LEAST_BYTES_PER_S = 10.0
"""Silence in FLAC has some 27 at 8 kHz; bytes that decode to more sound are made to do harm."""


class GuardedSource:
    """Reads a pipe, and keeps bytes and seconds of sound in proportion."""

    def __init__(self, pipe: BytePipe, container: Container) -> None:
        self._pipe = pipe
        self._container = container
        self._order = Mp4Order() if container is MP4 else None
        self._bytes = self._bytes_at_sound = 0
        self._heard_s = 0.0
        self._has_ended = False
        self._refused: UndecodableAudio | None = None

    @property
    def has_ended(self) -> bool:
        """Whether all bytes are read."""
        return self._has_ended

    @property
    def has_sounded(self) -> bool:
        """Whether there was any sound."""
        return self._heard_s > 0

    def read(self, size: int) -> bytes:
        """Return the next bytes, as `BytePipe.read` does.

        Raises:
            UndecodableAudio: too many have come without sound, or those of an MP4 out of order.
            PipeClosed: nobody wants the sound.
        """
        if self._refused is not None:  # a demuxer tried again
            raise self._refused
        data = self._pipe.read(size)
        self._bytes += len(data)
        self._has_ended = not data
        try:
            self._check(data)
        except UndecodableAudio as error:
            self._refused = error
            raise
        return data

    def heard(self, seconds: float) -> None:
        """Note sound. Raises UndecodableAudio where it is too much for so few bytes."""
        self._bytes_at_sound = self._bytes
        self._heard_s += seconds
        if self._heard_s > FREE_S + self._bytes / LEAST_BYTES_PER_S:
            raise UndecodableAudio(
                f"{self._bytes} bytes of {self._container.name} decode to more than "
                f"{self._heard_s:.0f} s: fewer than {LEAST_BYTES_PER_S:g} bytes a second"
            )

    def _check(self, data: bytes) -> None:
        if self._order is not None:
            self._order.look(data)
        if self._bytes - self._bytes_at_sound > MAX_SILENT_BYTES:
            raise UndecodableAudio(
                f"{MAX_SILENT_BYTES} bytes of {self._container.name} held no sound"
            )
