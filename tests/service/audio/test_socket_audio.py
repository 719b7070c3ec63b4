import numpy as np
import pytest

from earshot.service.audio.containers import AMR, AMR_NB_FRAMES, FLAC, MATROSKA, MP4, OGG
from earshot.service.audio.packed import Packed, Packing
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
        (b"\x00\x00\x00\x1cftyp", "MP4"),
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


BEGINNINGS = [
    (b"OggS\x00\x02" + bytes(90), OGG),
    (b"\x1a\x45\xdf\xa3" + bytes(90), MATROSKA),
    (b"\x00\x00\x00\x1cftypiso5" + bytes(90), MP4),
]


def all_bytes(heard):
    return b"".join(each.data for each in heard if isinstance(each, Packed))


@pytest.mark.parametrize(("data", "container"), BEGINNINGS)
@pytest.mark.parametrize(("pcm", "or_packed"), [(None, False), (LINEAR16, True)])
def test_a_container_is_handed_on_wherever_it_is_cut(pcm, or_packed, data, container):
    audio = SocketAudio(pcm, 16_000, or_packed=or_packed)
    heard = [audio.decode(data[at : at + 1]) for at in range(len(data))]
    assert all_bytes(heard) == data
    assert heard[-1].packing == Packing(container)
    assert audio.flush() == Packed(Packing(container), b"", last=True)


def test_samples_are_heard_where_a_container_might_come():
    audio = SocketAudio(LINEAR16, 16_000, or_packed=True)
    assert audio.decode(bytes(6)) == []
    [samples] = audio.decode(bytes(314))
    assert len(samples) == 160


def test_the_channels_to_be_heard_apart_go_along():
    heard = SocketAudio(None, 16_000, channels=2).decode(b"OggS" + bytes(40))
    assert heard.packing == Packing(OGG, 2)


@pytest.mark.parametrize(
    ("stated", "data", "found"),
    [
        (FLAC, b"fLaC" + bytes(20), FLAC),
        (OGG, b"OggS" + bytes(20), OGG),
        (AMR_NB_FRAMES, b"#!AMR\n" + bytes(20), AMR),
        (AMR_NB_FRAMES, b"\x3c" + bytes(31), AMR_NB_FRAMES),
    ],
)
def test_a_stated_container_is_looked_at(stated, data, found):
    audio = SocketAudio(None, 16_000, stated=stated)
    assert audio.decode(data[:5]) == []
    assert audio.decode(data[5:]) == Packed(Packing(found), data)


@pytest.mark.parametrize(
    ("stated", "data", "named"),
    [
        (FLAC, b"OggS" + bytes(20), "is Ogg, not the FLAC"),
        (OGG, bytes(20), "of no format we know, not the Ogg"),
        (AMR_NB_FRAMES, b"RIFF\0\0\0\0WAVE" + bytes(20), "is WAV, not the AMR-NB"),
    ],
)
def test_another_container_than_stated_is_named(stated, data, named):
    with pytest.raises(UndecodableAudio, match=named):
        SocketAudio(None, 16_000, stated=stated).decode(data)


def test_a_stream_that_ends_in_its_head_is_said_to():
    audio = SocketAudio(None, 16_000, stated=FLAC)
    audio.decode(b"fLaC")
    with pytest.raises(UndecodableAudio, match="before its header was complete"):
        audio.flush()


def test_a_container_that_has_to_be_whole_is_refused():
    with pytest.raises(UndecodableAudio, match="CAF cannot be streamed"):
        SocketAudio(None, 16_000).decode(b"caff\0\x01" + bytes(40))
