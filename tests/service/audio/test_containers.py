import pytest

from earshot.service.audio.containers import sniff


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "WAV"),
        (b"FORM\x00\x00\x00\x00AIFCCOMM", "AIFF"),
        (b"\x00\x00\x00\x20ftypM4A \x00\x00", "MP4/M4A/MOV"),
        (b"\xff\xfb\x90\x00" + bytes(12), "MP3"),
        (b"\xff\xf1\x50\x80" + bytes(12), "AAC (ADTS)"),
        (b"#!AMR-WB\n" + bytes(7), "AMR"),
    ],
)
def test_magic_bytes_name_the_container(head, name):
    assert sniff(head).name == name


@pytest.mark.parametrize(
    "head",
    [b"", b"\xff", b"RIFF\x24\x00\x00\x00AVI LIST", b"\xff\xe0" + bytes(14), b"PK\x03\x04" * 4],
)
def test_other_bytes_are_unknown(head):
    assert sniff(head) is None
