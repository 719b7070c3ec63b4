"""Tensors of a .pt file where they lie: those that are read later, or at once; bad ones refused."""

from __future__ import annotations

import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor

from earshot.models.checkpoints.files.stored_tensors import StoredFile, in_memory, is_stored
from earshot.models.checkpoints.files.torch_archive import OpenFile
from earshot.models.checkpoints.files.torch_index import index_file, index_state_dict
from earshot.models.errors import NotACheckpoint, UnsafeCheckpoint

SHARED = torch.arange(24.0)
STATE = OrderedDict(
    weight=torch.arange(6.0).reshape(2, 3),
    turned=torch.arange(6, dtype=torch.int16).reshape(2, 3).T,
    later=SHARED[5:9],
    every_other=SHARED.view(4, 6)[1:3, ::2],
    counter=torch.tensor(3.5),
    half=torch.randn(3).half(),
    none=torch.empty(0, 4),
)


def written(path: Path, content: object = STATE, *, zipped: bool = True) -> Path:
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    return path


def turned(content: bytes) -> bytes:
    """Numbers of four bytes in the other order."""
    return b"".join(content[at : at + 4][::-1] for at in range(0, len(content), 4))


def rewritten(
    path: Path, changed: Mapping[str, Callable[[bytes], bytes]], method: int = zipfile.ZIP_STORED
) -> Path:
    """The archive with members of some names changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            change = changed.get(name.partition("/")[2], bytes)
            archive.writestr(name, change(content))
    return path


def assert_same(found: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for key, tensor in expected.items():
        torch.testing.assert_close(in_memory(found[key]), tensor, rtol=0, atol=0)


def test_tensors_of_all_kinds_are_read_when_they_are_wanted(tmp_path):
    found = index_file(written(tmp_path / "x.pt"))
    assert all(tensor.is_meta and is_stored(tensor) for tensor in found.values())
    assert_same(found, STATE)


def test_views_of_them_lie_in_the_file_too(tmp_path):
    found = index_file(written(tmp_path / "x.pt"))
    assert torch.equal(in_memory(found["weight"][1:].T), STATE["weight"][1:].T)


def test_a_part_of_another_file_is_read_there(tmp_path):
    content = written(tmp_path / "x.pt").read_bytes()
    path = tmp_path / "x.tar"
    path.write_bytes(b"before" * 100 + content)
    with path.open("rb") as file, (tmp_path / "x.pt").open("rb") as part:
        kept = StoredFile(file, str(path), len(b"before" * 100))
        found = index_state_dict(OpenFile(part, "x.pt", len(content)), kept)
    assert_same(found, STATE)


def test_torchs_first_format_is_read_at_once(tmp_path):
    found = index_file(written(tmp_path / "x.pt", zipped=False))
    assert not any(map(is_stored, found.values()))
    assert_same(found, STATE)


def test_numbers_in_the_other_order_of_bytes_are_turned_at_once(tmp_path):
    path = written(tmp_path / "x.pt", {"weight": torch.arange(6.0)})
    found = index_file(rewritten(path, {"byteorder": lambda _: b"big", "data/0": turned}))
    assert not any(map(is_stored, found.values()))
    assert_same(found, {"weight": torch.arange(6.0)})


def test_members_that_are_compressed_are_unpacked_at_once(tmp_path):
    # What does not shrink, so that the archive is no bomb.
    state = {"weight": torch.randint(-(2**31), 2**31 - 1, (3000,), dtype=torch.int32)}
    found = index_file(rewritten(written(tmp_path / "x.pt", state), {}, zipfile.ZIP_DEFLATED))
    assert not any(map(is_stored, found.values()))
    assert_same(found, state)


@pytest.mark.parametrize("change", [lambda each: each[:-4], lambda each: each + b"more"])
def test_a_member_of_another_size_is_refused(tmp_path, change):
    path = written(tmp_path / "x.pt", {"weight": torch.arange(6.0)})
    with pytest.raises(NotACheckpoint, match="damaged or truncated"):
        index_file(rewritten(path, {"data/0": change}))


class Beyond:
    """A tensor that reaches further than its numbers, or backwards."""

    def __init__(self, size: int, stride: int, offset: int = 0) -> None:
        self.view = (offset, (size,), (stride,), False, OrderedDict())

    def __reduce__(self):
        storage = torch.arange(6.0)._typed_storage()
        return torch._utils._rebuild_tensor_v2, (storage, *self.view)


@pytest.mark.parametrize("view", [(7, 1), (2, 9), (2, 1, 5), (2, -1, 5)])
def test_a_tensor_that_leaves_its_member_is_refused(tmp_path, view):
    with pytest.raises(NotACheckpoint, match="damaged or truncated"):
        index_file(written(tmp_path / "x.pt", {"weight": Beyond(*view)}))


def test_a_tensor_that_repeats_one_number_is_refused(tmp_path):
    with pytest.raises(UnsafeCheckpoint, match="claims"):
        index_file(written(tmp_path / "x.pt", {"weight": torch.zeros(1).expand(100_000, 100_000)}))


@pytest.mark.parametrize(
    "content", [{"weight": torch.zeros(2, device="meta")}, {"weight": torch.eye(2).to_sparse()}]
)
def test_a_checkpoint_of_other_things_is_refused(tmp_path, content):
    with pytest.raises(NotACheckpoint):
        index_file(written(tmp_path / "x.pt", content))


def test_a_file_that_shrinks_before_it_is_read_is_a_named_error(tmp_path):
    path = written(tmp_path / "x.pt")
    found = index_file(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(NotACheckpoint, match=r"x\.pt has become shorter"):
        in_memory(found["half"])


def test_a_file_that_another_replaces_is_read_to_its_end(tmp_path):
    found = index_file(written(tmp_path / "x.pt"))
    written(tmp_path / "y.pt", {"weight": torch.ones(9)}).replace(tmp_path / "x.pt")
    assert_same(found, STATE)
