"""Ogg files that decoders would read in part without a word."""

import io

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.service.audio.ogg_pages import check_ogg_pages
from earshot.service.errors import UndecodableAudio

PAGE = b"OggS"


def recording(subtype: str) -> bytes:
    """Four seconds, of some pages."""
    file = io.BytesIO()
    noise = np.random.default_rng(3).uniform(-0.3, 0.3, 4 * 48_000)
    soundfile.write(file, noise, 48_000, format="OGG", subtype=subtype)
    return file.getvalue()


WHOLE = {subtype: recording(subtype) for subtype in ("OPUS", "VORBIS")}


def pages(content: bytes) -> list[bytes]:
    return [PAGE + rest for rest in content.split(PAGE)[1:]]


@pytest.mark.parametrize("subtype", WHOLE)
def test_a_whole_file_passes(subtype: str) -> None:
    assert len(pages(WHOLE[subtype])) > 3
    check_ogg_pages(io.BytesIO(WHOLE[subtype]))


@pytest.mark.parametrize("subtype", WHOLE)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(deadline=None)
def test_no_bit_is_wrong_unnoticed(subtype: str, place: float, bit: int) -> None:
    content = bytearray(WHOLE[subtype])
    content[int(place * len(content))] ^= 1 << bit
    with pytest.raises(UndecodableAudio):
        check_ogg_pages(io.BytesIO(content))


@pytest.mark.parametrize("subtype", WHOLE)
@given(share=st.floats(0, 1, exclude_max=True))
@settings(deadline=None)
def test_no_end_is_missing_unnoticed(subtype: str, share: float) -> None:
    content = WHOLE[subtype]
    with pytest.raises(UndecodableAudio, match="cut"):
        check_ogg_pages(io.BytesIO(content[: int(share * len(content))]))


def test_a_missing_page_is_named() -> None:
    content = pages(WHOLE["VORBIS"])
    with pytest.raises(UndecodableAudio, match="a page is missing"):
        check_ogg_pages(io.BytesIO(b"".join([*content[:3], *content[4:]])))


def test_a_second_recording_is_not_passed_over() -> None:
    with pytest.raises(UndecodableAudio, match="several recordings"):
        check_ogg_pages(io.BytesIO(WHOLE["OPUS"] + WHOLE["VORBIS"]))


def test_what_lies_between_pages_is_named() -> None:
    first, *others = pages(WHOLE["OPUS"])
    with pytest.raises(UndecodableAudio, match="between its pages"):
        check_ogg_pages(io.BytesIO(b"".join([first, bytes(40), *others])))
