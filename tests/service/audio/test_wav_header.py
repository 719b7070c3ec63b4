import io
import struct

import numpy as np
import pytest
import soundfile

from earshot.service.audio.containers import FLAC, MATROSKA, MP3, OGG, WAV
from earshot.service.audio.pcm import PcmFormat
from earshot.service.audio.socket_audio import SocketAudio
from earshot.service.audio.wav_header import MAX_HEADER_BYTES, WavHeader
from earshot.service.errors import UndecodableAudio


def wav(samples, rate=16000, subtype="PCM_16", kind="WAV"):
    file = io.BytesIO()
    soundfile.write(file, samples, rate, subtype=subtype, format=kind)
    return file.getvalue()


NOISE = np.random.default_rng(2).uniform(-0.5, 0.5, (4000, 2))


@pytest.mark.parametrize(
    ("subtype", "kind", "expected"),
    [
        ("PCM_16", "WAV", PcmFormat("linear16", 44100, 2)),
        ("FLOAT", "WAV", PcmFormat("linear32", 44100, 2)),
        ("PCM_16", "WAVEX", PcmFormat("linear16", 44100, 2)),
        ("ULAW", "WAV", PcmFormat("mulaw", 44100, 2)),
        ("ALAW", "WAV", PcmFormat("alaw", 44100, 2)),
    ],
)
def test_the_header_tells_the_format(subtype, kind, expected):
    pcm, rest = WavHeader().feed(wav(NOISE, 44100, subtype, kind))
    assert pcm == expected
    assert len(rest) == 4000 * pcm.frame_bytes


def test_a_header_cut_anywhere_gives_the_same_audio():
    data = wav(NOISE)
    for channels in (None, 2):
        whole = SocketAudio(None, 16000, channels).decode(data)
        assert len(whole) == (channels or 1)
        for cut in (1, 5, 43):
            audio = SocketAudio(None, 16000, channels)
            pieces = [audio.decode(data[at : at + cut]) for at in range(0, len(data), cut)]
            heard = [np.concatenate(each) for each in zip(*filter(None, pieces), strict=True)]
            np.testing.assert_array_equal(heard, whole)


def test_channels_heard_apart_are_those_of_the_file():
    left, right = SocketAudio(None, 16000, channels=2).decode(wav(NOISE))
    np.testing.assert_allclose(left, NOISE[:, 0], atol=1e-4)
    np.testing.assert_allclose(right, NOISE[:, 1], atol=1e-4)


def test_a_wav_with_other_channels_than_asked_for_is_refused():
    with pytest.raises(UndecodableAudio, match="2 channels, and channels=3"):
        SocketAudio(None, 16000, channels=3).decode(wav(NOISE))


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF])
def test_sizes_of_a_live_stream_are_not_believed(size):
    data = bytearray(wav(NOISE[:, 0]))
    at = data.index(b"data") + 4
    data[at : at + 4] = struct.pack("<I", size)
    assert len(WavHeader().feed(bytes(data))[1]) == 8000


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (bytes(20), "encoding=linear16"),
        (b"RIFF\0\0\0\0WAVEdata" + bytes(8), "fmt"),
        (b"RIFF\0\0\0\0WAVEfmt \x04\0\0\0abcddata\0\0\0\0" + bytes(30), "too short"),
    ],
)
def test_what_is_no_wav_is_refused_by_name(data, named):
    with pytest.raises(UndecodableAudio, match=named):
        WavHeader().feed(data)


@pytest.mark.parametrize(
    ("data", "container"),
    [
        (b"OggS" + bytes(20), OGG),
        (b"\x1a\x45\xdf\xa3" + bytes(20), MATROSKA),
        (b"ID3\x04" + bytes(20), MP3),
        (b"fLaC" + bytes(20), FLAC),
        (wav(NOISE, subtype="PCM_24"), WAV),
        (wav(NOISE, subtype="MS_ADPCM"), WAV),
    ],
)
def test_what_others_have_to_read_is_named_wherever_it_is_cut(data, container):
    assert WavHeader().feed(data) is container
    header = WavHeader()
    fed = [header.feed(data[at : at + 1]) for at in range(min(len(data), 120))]
    assert next(found for found in fed if found is not None) is container
    assert data.startswith(header.read)


@pytest.mark.parametrize(
    ("channels", "rate", "named"),
    [
        (1, 3000, "3000 samples a second: 4000 to 192000 are supported"),
        (0, 16000, "0 channels: 1 to 32 are supported"),
    ],
)
def test_what_is_not_supported_is_named(channels, rate, named):
    chunk = struct.pack("<IHHIIHH", 16, 1, channels, rate, 0, 0, 16)
    with pytest.raises(UndecodableAudio, match=named):
        WavHeader().feed(b"RIFF\0\0\0\0WAVEfmt " + chunk + b"data\0\0\0\0")


def test_an_endless_header_is_refused():
    header = WavHeader()
    endless = b"RIFF\0\0\0\0WAVEjunk" + struct.pack("<I", 1 << 30)
    assert header.feed(endless) is None
    with pytest.raises(UndecodableAudio, match="no audio within"):
        header.feed(bytes(MAX_HEADER_BYTES))
