"""Read a WAV header off the front of a byte stream whose end is not known."""

import struct

from earshot.service.audio.containers import SNIFF_BYTES, WAV, Container, sniff
from earshot.service.audio.pcm import Encoding, PcmFormat
from earshot.service.audio.resampler import MAX_RATE_HZ, MIN_RATE_HZ
from earshot.service.audio.stream_head import StreamHead
from earshot.service.errors import UndecodableAudio

MAX_HEADER_BYTES = 64 * 1024
MAX_CHANNELS = 32
_EXTENSIBLE = 0xFFFE
_ENCODINGS: dict[tuple[int, int], Encoding] = {
    (1, 16): "linear16",
    (3, 32): "linear32",
    (6, 8): "alaw",
    (7, 8): "mulaw",
}


class WavHeader(StreamHead):
    """Collects bytes until the header is complete; sizes in it are ignored, streams lie in them."""

    def __init__(self) -> None:
        super().__init__()
        self._position = 12  # where the next chunk starts
        self._pcm: PcmFormat | None = None

    def feed(self, data: bytes) -> tuple[PcmFormat, bytes] | Container | None:
        """Return the format and the first audio bytes once they are known, None before.

        A container is returned that is none of ours to read: another one, or a WAV of a codec.

        Raises:
            UndecodableAudio: it is no audio that we know.
        """
        self._bytes += data
        if len(self._bytes) >= SNIFF_BYTES and (other := _other_than_wav(self._bytes)):
            return other
        parsed = self._parse()
        if parsed is None and len(self._bytes) > MAX_HEADER_BYTES:
            raise UndecodableAudio(f"no audio within {MAX_HEADER_BYTES} bytes of a WAV header")
        return parsed

    def _parse(self) -> tuple[PcmFormat, bytes] | Container | None:
        """Go on at the first chunk that was not complete."""
        while (body := self._position + 8) <= len(self._bytes):
            name, size = struct.unpack_from("<4sI", self._bytes, self._position)
            if name == b"data":
                if self._pcm is None:
                    raise UndecodableAudio("the WAV header has no fmt chunk before its data")
                return self._pcm, self._bytes[body:]
            end = body + size + size % 2
            if end > len(self._bytes):
                return None
            if name == b"fmt ":
                self._pcm = _parse_format(self._bytes[body : body + size])
                if self._pcm is None:
                    return WAV
            self._position = end
        return None


def _other_than_wav(head: bytes) -> Container | None:
    container = sniff(head[:SNIFF_BYTES])
    if container is None:
        raise UndecodableAudio(
            "no encoding was given and the audio does not start like a file: "
            "add encoding=linear16 and sample_rate"
        )
    return None if container is WAV else container


def _parse_format(chunk: bytes) -> PcmFormat | None:
    """The format of samples that lie there bare, None where a codec has to read them."""
    if len(chunk) < 16:
        raise UndecodableAudio("the fmt chunk of the WAV header is too short")
    tag, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if tag == _EXTENSIBLE and len(chunk) >= 26:
        (tag,) = struct.unpack_from("<H", chunk, 24)
    encoding = _ENCODINGS.get((tag, bits))
    if not 1 <= channels <= MAX_CHANNELS:
        raise UndecodableAudio(f"a WAV of {channels} channels: 1 to {MAX_CHANNELS} are supported")
    if not MIN_RATE_HZ <= rate <= MAX_RATE_HZ:
        raise UndecodableAudio(
            f"a WAV of {rate} samples a second: {MIN_RATE_HZ} to {MAX_RATE_HZ} are supported"
        )
    return None if encoding is None else PcmFormat(encoding, rate, channels)
