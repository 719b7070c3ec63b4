import numpy as np
import pytest

from earshot.service.audio.pcm import PcmFormat
from earshot.service.audio.socket_audio import SocketAudio
from earshot.service.errors import UndecodableAudio

LINEAR16 = PcmFormat("linear16", 16_000, 1)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"OggS\x00\x02", "Ogg"),
        (b"\x1a\x45\xdf\xa3\x9f\x42", "WebM"),
        (b"fLaC\x00\x00\x00\x22", "FLAC"),
    ],
)
def test_a_file_that_is_sent_as_samples_is_named(head, name):
    with pytest.raises(UndecodableAudio, match=name):
        SocketAudio(LINEAR16, 16_000).decode(head + bytes(90))


def test_a_file_is_named_wherever_its_first_bytes_are_cut():
    audio = SocketAudio(LINEAR16, 16_000)
    assert audio.decode(b"Og") == audio.decode(b"") == []
    with pytest.raises(UndecodableAudio, match="Ogg"):
        audio.decode(b"gS" + bytes(90))


def test_what_only_began_like_a_file_is_heard_at_the_end():
    audio = SocketAudio(LINEAR16, 16_000)
    assert audio.decode(b"Og") == []
    [samples] = audio.flush()
    np.testing.assert_allclose(samples, [int.from_bytes(b"Og", "little") / 32768])


def test_samples_may_be_any_bytes_later_on():
    audio = SocketAudio(LINEAR16, 16_000)
    [begun] = audio.decode(bytes(320))
    [more] = audio.decode(b"OggS" + bytes(316))
    assert len(begun) + len(more) <= 320
    assert np.isfinite(more).all()


@pytest.mark.parametrize(
    "head", [b"", b"\x01\x02", b"\xff\xfb\x90\x00", b"RIFF\x24\x00\x00\x00WAVE"]
)
def test_what_may_be_samples_is_heard(head):
    SocketAudio(LINEAR16, 16_000).decode(head + bytes(64))
