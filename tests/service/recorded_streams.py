"""Streams as recorders write them: without knowing their end, to a file that cannot be sought."""

from collections.abc import Callable
from io import BytesIO

import av
import numpy as np
import pytest
import soundfile

SECONDS = 3.0
FRAGMENTED = {"movflags": "frag_keyframe+empty_moov+default_base_moof", "frag_duration": "200000"}


class Written:
    """What a muxer writes that may not go back."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> int:
        self.data += bytes(data)
        return len(data)


def steps(rate: int = 16_000, seconds: float = SECONDS) -> np.ndarray:
    """A tone that is louder each half second."""
    time = np.arange(round(seconds * rate)) / rate
    loudness = 0.1 + 0.1 * (time // 0.5 % 6)
    return (loudness * np.sin(2 * np.pi * 440 * time)).astype(np.float32)


def muxed(
    codec: str,
    container: str,
    rate: int = 48_000,
    options: dict[str, str] | None = None,
    audio: np.ndarray | None = None,
    of_codec: dict[str, str] | None = None,
    file: object = None,
) -> bytes:
    """Encode audio, shape ``(channels, N)``, the steps if absent, to a file if one is given."""
    audio = steps(rate)[None] if audio is None else audio
    layout = "mono" if len(audio) == 1 else "stereo"
    written = Written()
    with av.open(file or written, "w", format=container, options=options or {}) as out:
        stream = out.add_stream(codec, rate=rate, layout=layout, options=of_codec or {})
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(audio, np.float32), format="fltp", layout=layout
        )
        frame.rate = rate
        stream.codec_context.open()
        resampler = av.AudioResampler(
            stream.format, stream.layout, stream.rate, frame_size=stream.codec_context.frame_size
        )
        for part in (*resampler.resample(frame), *resampler.resample(None)):
            out.mux(stream.encode(part))
        out.mux(stream.encode(None))
    return written.data


def with_soundfile(kind: str, subtype: str, rate: int = 16_000) -> bytes:
    file = BytesIO()
    soundfile.write(file, steps(rate), rate, format=kind, subtype=subtype)
    return file.getvalue()


STREAMS: dict[str, Callable[[], bytes]] = {
    # Chrome's and Firefox's recorders; of both clusters and segment have unknown sizes.
    "webm": lambda: muxed("libopus", "webm", options={"live": "1", "cluster_time_limit": "500"}),
    "ogg-opus": lambda: muxed("libopus", "ogg", options={"page_duration": "100000"}),
    "mp4": lambda: muxed("aac", "mp4", options=FRAGMENTED),  # Safari's
    "ogg-vorbis": lambda: with_soundfile("OGG", "VORBIS"),
    "flac": lambda: muxed("flac", "flac", 16_000),
    "mp3": lambda: muxed("libmp3lame", "mp3", 16_000),
    "aac": lambda: muxed("aac", "adts"),
    "amr": lambda: muxed("libopencore_amrnb", "amr", 8_000, of_codec={"b": "12200"}),
    "wav-24": lambda: with_soundfile("WAV", "PCM_24"),
    "wav-adpcm": lambda: with_soundfile("WAV", "MS_ADPCM"),
    "wma": lambda: muxed("wmav2", "asf", 44_100, of_codec={"b": "96000"}),
    "aiff": lambda: with_soundfile("AIFF", "PCM_16"),
    "au": lambda: with_soundfile("AU", "ULAW", 8_000),
    "w64": lambda: with_soundfile("W64", "PCM_16"),
}
_ENCODERS = {"webm": "libopus", "ogg-opus": "libopus", "mp3": "libmp3lame"}
_ENCODERS["amr"] = "libopencore_amrnb"


def recorded(kind: str) -> bytes:
    """The steps as a stream of this kind; skips the test where nothing here encodes it."""
    encoder = _ENCODERS.get(kind)
    if encoder is not None and encoder not in av.codecs_available:
        pytest.skip(f"this PyAV has no encoder {encoder}")
    return STREAMS[kind]()
