"""Foreign .pt files: good ones of both kinds are read, bad ones refused, each in its way."""

import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path
from random import Random

import pytest
import torch

from earshot.models.checkpoints.files.torch_archive import LEGACY_MAGIC, read_state_dict
from earshot.models.errors import NotACheckpoint, UnsafeCheckpoint

STATE = OrderedDict(weight=torch.arange(6.0).reshape(2, 3), counter=torch.tensor(3.5))


def write(path: Path, content: object, *, zipped: bool = True) -> Path:
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    return path


@pytest.mark.parametrize("zipped", [True, False])
def test_reads_zip_and_legacy_containers(tmp_path, zipped):
    path = write(tmp_path / "final.pt", STATE, zipped=zipped)
    state = read_state_dict(path)
    assert state.keys() == STATE.keys()
    for key, tensor in STATE.items():
        torch.testing.assert_close(state[key], tensor)


def test_follows_a_link(tmp_path):
    write(tmp_path / "avg_10.pt", STATE)
    (tmp_path / "final.pt").symlink_to("avg_10.pt")
    assert read_state_dict(tmp_path / "final.pt").keys() == STATE.keys()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotACheckpoint, match=r"final\.pt"):
        read_state_dict(tmp_path / "final.pt")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 1000,
        b"RIFF....WAVEfmt ",
        Random(1).randbytes(64),
        b"\x80\x04K\x01.",
        b"<html>",
    ],
)
def test_garbage_is_refused(tmp_path, content):
    path = tmp_path / "final.pt"
    path.write_bytes(content)
    with pytest.raises(NotACheckpoint, match="not a PyTorch checkpoint"):
        read_state_dict(path)


def test_garbage_after_the_legacy_magic_is_refused(tmp_path):
    path = tmp_path / "final.pt"
    path.write_bytes(LEGACY_MAGIC + b"\xff\xfe garbage")
    with pytest.raises(NotACheckpoint, match="damaged or truncated"):
        read_state_dict(path)


def test_a_zip_of_something_else_is_refused(tmp_path):
    path = tmp_path / "final.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(NotACheckpoint, match="a zip archive, but not of a PyTorch checkpoint"):
        read_state_dict(path)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(tmp_path, zipped, kept):
    path = write(tmp_path / "final.pt", {"weight": torch.randn(100, 100)}, zipped=zipped)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(NotACheckpoint, match="truncated"):
        read_state_dict(path)


def test_a_zip_whose_data_is_damaged_is_refused(tmp_path):
    path = write(tmp_path / "final.pt", STATE)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, b"\x80\x02garbage" if name.endswith("data.pkl") else content)
    with pytest.raises(NotACheckpoint, match="damaged or truncated"):
        read_state_dict(path)


class Attack:
    """Touches a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def flip_a_weight(path: Path) -> None:
    """Change one bit of a number that stays finite."""
    content = bytearray(path.read_bytes())
    content[content.index(STATE["weight"].numpy().tobytes()) + 9] ^= 1
    path.write_bytes(content)


def test_a_changed_weight_is_refused_though_it_is_a_number(tmp_path):
    path = write(tmp_path / "final.pt", STATE)
    flip_a_weight(path)
    with pytest.raises(NotACheckpoint, match=r"damaged or truncated archive: Bad CRC-32 .*data/0"):
        read_state_dict(path)


@pytest.fixture
def without_checksums():
    torch.serialization.set_crc32_options(False)
    yield
    torch.serialization.set_crc32_options(True)


@pytest.mark.usefixtures("without_checksums")
def test_an_archive_without_checksums_is_read(tmp_path):
    path = write(tmp_path / "final.pt", STATE)
    assert not any(member.CRC for member in zipfile.ZipFile(path).infolist())
    assert read_state_dict(path).keys() == STATE.keys()


@pytest.mark.parametrize("zipped", [True, False])
def test_code_is_refused_and_not_run(tmp_path, zipped):
    path = write(tmp_path / "final.pt", {"weight": Attack(tmp_path / "pwned")}, zipped=zipped)
    with pytest.raises(UnsafeCheckpoint, match="more than tensors"):
        read_state_dict(path)
    assert not (tmp_path / "pwned").exists()


def test_an_archive_that_would_explode_is_refused(tmp_path):
    path = tmp_path / "final.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({}, protocol=2))
        archive.writestr("archive/data/0", b"\x00" * 10_000_000)
    with pytest.raises(UnsafeCheckpoint, match="more than its own size"):
        read_state_dict(path)


def test_a_tensor_that_repeats_one_number_is_refused(tmp_path):
    huge = torch.zeros(1).expand(100_000, 100_000)
    path = write(tmp_path / "final.pt", {"weight": huge})
    with pytest.raises(UnsafeCheckpoint, match="claims"):
        read_state_dict(path)


@pytest.mark.parametrize(
    "content",
    [
        {},
        [torch.zeros(2)],
        torch.zeros(2),
        {"model": {"weight": torch.zeros(2)}},
        {"epoch": 3},
        {1: torch.zeros(2)},
        {"weight": torch.zeros(2, dtype=torch.complex64)},
        {"weight": torch.zeros(2).to_sparse()},
        {"weight": torch.zeros(2, device="meta")},
    ],
)
def test_a_checkpoint_of_other_things_is_refused(tmp_path, content):
    path = write(tmp_path / "final.pt", content)
    with pytest.raises(NotACheckpoint, match="holds"):
        read_state_dict(path)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_is_refused(tmp_path):
    nested = torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])
    path = write(tmp_path / "final.pt", {"weight": nested})
    with pytest.raises(NotACheckpoint, match="holds"):
        read_state_dict(path)


def test_a_legacy_storage_larger_than_its_file_is_refused(tmp_path):
    path = write(tmp_path / "final.pt", {"weight": torch.zeros(4)}, zipped=False)
    content = path.read_bytes()
    # Before a legacy storage's bytes stands its number of elements.
    count = struct.pack("<q", 4)
    assert content.count(count) >= 1
    path.write_bytes(content.replace(count, struct.pack("<q", 2**40)))
    with pytest.raises((NotACheckpoint, UnsafeCheckpoint)):
        read_state_dict(path)


def test_reading_leaves_no_file_open(tmp_path, recwarn):
    path = write(tmp_path / "final.pt", STATE)
    read_state_dict(path)
    path.write_bytes(io.BytesIO(b"gone").getvalue())
    assert not [warning for warning in recwarn if warning.category is ResourceWarning]
