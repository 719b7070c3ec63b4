import struct

import pytest

from earshot.service.audio.unpacking.mp4_order import Mp4Order
from earshot.service.errors import UndecodableAudio


def box(name, body=bytes(40)):
    return struct.pack(">I4s", 8 + len(body), name) + body


def long_box(name, body=bytes(40)):
    return struct.pack(">I4sQ", 1, name, 16 + len(body)) + body


HEAD = box(b"ftyp", bytes(16)) + long_box(b"free") + box(b"wide", b"")


def look_at(data, piece):
    order = Mp4Order()
    for at in range(0, len(data), piece):
        order.look(data[at : at + piece])


@pytest.mark.parametrize("piece", [1, 5, 16, 1000])
def test_sound_before_its_description_is_refused_wherever_it_is_cut(piece):
    with pytest.raises(UndecodableAudio, match="description behind its sound"):
        look_at(HEAD + box(b"mdat"), piece)


@pytest.mark.parametrize("piece", [1, 5, 16, 1000])
def test_a_description_that_comes_first_is_all_there_is_to_see(piece):
    look_at(HEAD + box(b"moov") + box(b"mdat"), piece)
