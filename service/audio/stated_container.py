"""The beginning of a stream whose container the client has named."""

from earshot.service.audio.containers import (
    AMR,
    AMR_NB_FRAMES,
    AMR_WB_FRAMES,
    FLAC,
    OGG,
    SNIFF_BYTES,
    Container,
    sniff,
)
from earshot.service.audio.stream_head import StreamHead
from earshot.service.errors import UndecodableAudio

CONTAINERS = {
    "flac": FLAC,
    "ogg-opus": OGG,
    "amr-nb": AMR_NB_FRAMES,
    "amr-wb": AMR_WB_FRAMES,
}
"""By their names as `encoding`."""

ONLY_RATE_HZ = {"amr-nb": 8_000, "amr-wb": 16_000}
"""Of the encodings that have but one."""


class StatedContainer(StreamHead):
    """Collects bytes until they show whether they are what was said."""

    def __init__(self, stated: Container) -> None:
        super().__init__()
        self._stated = stated

    def feed(self, data: bytes) -> Container | None:
        """Return the container once it is clear, None before.

        Raises:
            UndecodableAudio: it is another than was said.
        """
        self._bytes += data
        if len(self._bytes) < SNIFF_BYTES:
            return None
        found = sniff(self._bytes[:SNIFF_BYTES])
        if self._stated in (AMR_NB_FRAMES, AMR_WB_FRAMES):
            if found in (AMR, None):
                return found or self._stated
        elif found is self._stated:
            return found
        told = "of no format we know" if found is None else found.name
        raise UndecodableAudio(
            f"the audio is {told}, not the {self._stated.name} that encoding says"
        )
