"""Bytes and seconds of sound, in proportion."""

import pytest

from earshot.service.audio.containers import FLAC
from earshot.service.audio.unpacking.byte_pipe import BytePipe
from earshot.service.audio.unpacking.guarded_source import GuardedSource
from earshot.service.errors import UndecodableAudio


def source_of(data):
    pipe = BytePipe(lambda: None)
    pipe.give(data, last=True)
    source = GuardedSource(pipe, FLAC)
    source.read(len(data))
    return source


def test_an_hour_of_digital_silence_is_no_bomb():
    source_of(bytes(27 * 3600)).heard(3600)


def test_a_beginning_may_be_as_silent_as_it_likes():
    source_of(b"fLaC").heard(60)


def test_fewer_bytes_than_any_silence_has_are_refused():
    with pytest.raises(UndecodableAudio, match="1000 bytes of FLAC decode to more than"):
        source_of(bytes(1000)).heard(161)
