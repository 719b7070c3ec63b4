"""Headers of tar archives: good ones are found, every trick is refused by name."""

import contextlib
import io
import tarfile
from pathlib import Path
from random import Random

import pytest
from nemo_writer import directory, member, write_tar

from earshot.models.checkpoints.nemo.tar_members import (
    BLOCK,
    MAX_EXTENSION_BYTES,
    MAX_MEMBERS,
    TarReader,
)
from earshot.models.errors import CheckpointError, NotACheckpoint, UnsafeCheckpoint

MEMBERS = {"./one.yaml": b"1" * 700, "./two/three": b"", "./" + "long" * 40: b"3"}


def read(content: bytes) -> dict[str, bytes]:
    found = TarReader(io.BytesIO(content), len(content), "x.nemo").read()
    return {name: content[each.offset : each.offset + each.size] for name, each in found.items()}


def tar(*infos: tarfile.TarInfo, tar_format: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:", format=tar_format) as archive:
        for info in infos:
            archive.addfile(info, io.BytesIO(b"x" * info.size))
    return buffer.getvalue()


@pytest.fixture
def good(tmp_path: Path) -> bytes:
    write_tar(tmp_path / "good.tar", MEMBERS)
    return (tmp_path / "good.tar").read_bytes()


def test_members_are_found_with_their_bytes(good):
    assert read(good) == {name.removeprefix("./"): data for name, data in MEMBERS.items()}


@pytest.mark.parametrize("kind", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("name", ["a" * 90, "folder/" * 13 + "b" * 60])
def test_every_format_names_its_members(kind, name):
    assert read(tar(member(name, 3), tar_format=kind)) == {name: b"xxx"}


def test_a_name_that_is_no_ascii_is_read():
    assert read(tar(member("tökenizer.model", 1))) == {"tökenizer.model": b"x"}


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../up", ".."])
def test_a_name_that_leads_out_is_refused(name):
    with pytest.raises(UnsafeCheckpoint, match="outside"):
        read(tar(member(name, 1)))


def test_a_directory_that_leads_out_is_refused():
    with pytest.raises(UnsafeCheckpoint, match="outside"):
        read(tar(directory("../up")))


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE,
        tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE, b"V",
    ],
)  # fmt: skip
def test_links_devices_and_sparse_files_are_refused(kind):
    with pytest.raises(UnsafeCheckpoint, match="only plain files"):
        read(tar(member("x", kind=kind, link="model_weights.ckpt")))


def test_a_sparse_file_in_an_extended_header_is_refused():
    info = member("x", 3)
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.realsize": "1000000000000"}
    with pytest.raises(UnsafeCheckpoint, match="sparse"):
        read(tar(info))


def test_a_member_given_twice_is_refused():
    with pytest.raises(UnsafeCheckpoint, match=r"'a/b' twice"):
        read(tar(member("a/b", 1), member("./a/b", 2)))


def test_too_many_members_are_refused():
    with pytest.raises(UnsafeCheckpoint, match="more than 512"):
        read(tar(*(member(str(number)) for number in range(MAX_MEMBERS + 1))))


def test_a_long_extended_header_is_refused():
    info = member("x", 3)
    info.pax_headers = {"comment": "y" * MAX_EXTENSION_BYTES}
    with pytest.raises(UnsafeCheckpoint, match="a header of"):
        read(tar(info))


def test_a_global_header_may_not_name_all_members():
    buffer = io.BytesIO()
    headers = {"path": "model_weights.ckpt"}
    with tarfile.open(fileobj=buffer, mode="w:", pax_headers=headers) as archive:
        archive.addfile(member("x", 1), io.BytesIO(b"x"))
    with pytest.raises(UnsafeCheckpoint, match="alike"):
        read(buffer.getvalue())


@pytest.mark.parametrize("size", [10**6, 2**40, 2**62])
def test_a_size_beyond_the_file_is_refused(size):
    info = tarfile.TarInfo("model_weights.ckpt")
    info.size = size
    header = info.tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(NotACheckpoint, match="beyond"):
        read(header + bytes(4 * BLOCK))


def test_a_size_beyond_the_file_in_an_extended_header_is_refused():
    info = member("x")
    info.pax_headers = {"size": "1000000000"}
    with pytest.raises(NotACheckpoint, match="beyond"):
        read(tar(info))


@pytest.mark.parametrize("kept", [1, 511, 512, 1024, 1500, 2048, 3000])
def test_a_truncated_archive_is_refused(good, kept):
    with pytest.raises(NotACheckpoint, match="truncated"):
        read(good[:kept])


@pytest.mark.parametrize(
    "content", [b"PK\3\4" * 300, b"<html>" * 200, Random(1).randbytes(4096), b"\xff" * 1024]
)
def test_something_else_is_refused(content):
    with pytest.raises(NotACheckpoint, match="no tar archive"):
        read(content)


def test_a_damaged_byte_raises_nothing_unforeseen(good):
    random = Random(2)
    for _ in range(400):
        spoilt = bytearray(good)
        for _ in range(random.randrange(1, 4)):
            spoilt[random.randrange(4 * BLOCK)] = random.randrange(256)
        # With a checksum that agrees, so that all of the header is believed.
        for start in range(0, 4 * BLOCK, BLOCK):
            block = spoilt[start : start + BLOCK]
            total = sum(block[:148]) + 8 * 32 + sum(block[156:])
            spoilt[start + 148 : start + 156] = b"%06o\0 " % total
        with contextlib.suppress(CheckpointError):
            read(bytes(spoilt))
