"""Recognise a file format by its first bytes."""

from dataclasses import dataclass

SNIFF_BYTES = 16


@dataclass(frozen=True)
class Container:
    """A file format: its name for people, and the PyAV demuxer that alone may open it."""

    name: str
    demuxer: str


WAV = Container("WAV", "wav")
OGG = Container("Ogg", "ogg")
FLAC = Container("FLAC", "flac")
MP3 = Container("MP3", "mp3")
AAC = Container("AAC (ADTS)", "aac")
MP4 = Container("MP4/M4A/MOV", "mov")
MATROSKA = Container("WebM/Matroska", "matroska")
AIFF = Container("AIFF", "aiff")
CAF = Container("CAF", "caf")
AU = Container("AU", "au")
W64 = Container("Wave64", "w64")
ASF = Container("WMA/ASF", "asf")
AMR = Container("AMR", "amr")
AMR_NB_FRAMES = Container("AMR-NB", "amrnb")
AMR_WB_FRAMES = Container("AMR-WB", "amrwb")
"""AMR without the line that says so, which nothing can tell from samples."""

_MAGIC: tuple[tuple[bytes, Container], ...] = (
    (b"OggS", OGG),
    (b"fLaC", FLAC),
    (b"ID3", MP3),
    (b"\x1a\x45\xdf\xa3", MATROSKA),
    (b"caff", CAF),
    (b".snd", AU),
    (b"riff\x2e\x91\xcf\x11", W64),
    (b"\x30\x26\xb2\x75", ASF),
    (b"#!AMR", AMR),
)

_UNLIKE_SAMPLES = tuple(each for each in _MAGIC if each[1] in (OGG, FLAC, MATROSKA))

UNLIKE_SAMPLES_BYTES = 8
"""That `sniff_in_samples` needs to name all it can, which is an MP4 as Safari records it."""


def sniff(head: bytes) -> Container | None:
    """Name the container that starts with ``head`` (at least ``SNIFF_BYTES``), None if unknown."""
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return WAV
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return AIFF
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"):
        return MP4
    for magic, container in _MAGIC:
        if head.startswith(magic):
            return container
    return _mpeg_audio(head)


def sniff_in_samples(head: bytes) -> Container | None:
    """Name the container whose file was sent as samples, None for what may be samples.

    Only by bytes with which no sound begins; a WAV header is 22 samples.
    """
    if head[:3] == bytes(3) and head[4:UNLIKE_SAMPLES_BYTES] == b"ftyp":
        return MP4
    return next((found for magic, found in _UNLIKE_SAMPLES if head.startswith(magic)), None)


def may_begin_a_file(head: bytes) -> bool:
    """Whether too few bytes have come for `sniff_in_samples` to tell one of its four bytes."""
    return any(magic.startswith(head) for magic, _ in _UNLIKE_SAMPLES)


def _mpeg_audio(head: bytes) -> Container | None:
    """A bare MPEG frame: eleven sync bits, then the layer tells AAC (layer 0) from MP3."""
    if len(head) < 2 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    if head[1] & 0xF6 == 0xF0:
        return AAC
    return MP3 if head[1] & 0x06 else None
