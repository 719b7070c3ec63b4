"""Files of tensors are whole, and whoever may read a folder's other files may read them."""

import json
import os
import struct

import pytest
import torch

from earshot.models.checkpoints.files.safetensors_file import (
    read_safetensors_file,
    write_safetensors_file,
)
from earshot.models.errors import NotACheckpoint

TENSORS = {"a": torch.arange(6.0).view(2, 3), "b": torch.tensor([1, 2], dtype=torch.int8)}


def test_tensors_are_read_as_they_were_written(tmp_path):
    write_safetensors_file(tmp_path / "x.safetensors", TENSORS, {"why": "a test"})
    found = read_safetensors_file(tmp_path / "x.safetensors")
    assert found.keys() == TENSORS.keys()
    assert all(torch.equal(found[name], TENSORS[name]) for name in TENSORS)
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]


@pytest.mark.parametrize("umask", [0o022, 0o027])
def test_rights_are_those_of_any_new_file(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_safetensors_file(tmp_path / "x.safetensors", TENSORS)
    finally:
        os.umask(before)
    assert (tmp_path / "x.safetensors").stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "x.safetensors"
    write_safetensors_file(path, TENSORS)
    with pytest.raises(ValueError, match="expected torch"):
        write_safetensors_file(path, {**TENSORS, "c": "no tensor"})
    assert read_safetensors_file(path).keys() == TENSORS.keys()


@pytest.mark.parametrize("shape", [[0, 2**64 - 1], [0, 2**62, 2]])
def test_axes_that_no_tensor_has_are_refused(tmp_path, shape):
    header = json.dumps({"a": {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]}}).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(NotACheckpoint, match="not a safetensors file"):
        read_safetensors_file(path)
