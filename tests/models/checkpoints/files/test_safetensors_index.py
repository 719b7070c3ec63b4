"""Tensors of a safetensors file where they lie; hostile headers are refused."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
import torch

from earshot.models.checkpoints.files.safetensors_file import write_safetensors_file
from earshot.models.checkpoints.files.safetensors_index import DTYPES, index_safetensors_file
from earshot.models.checkpoints.files.stored_tensors import in_memory, is_stored
from earshot.models.errors import NotACheckpoint

TENSORS = {name: torch.arange(6).view(2, 3).to(dtype) for name, dtype in DTYPES.items()}


def written(path: Path, header: object, content: bytes = b"") -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)
    return path


def test_tensors_of_all_kinds_are_read_when_they_are_wanted(tmp_path):
    path = tmp_path / "x.safetensors"
    write_safetensors_file(path, TENSORS | {"none": torch.empty(0, 3)}, {"why": "a test"})
    found = index_safetensors_file(path)
    assert found.keys() == TENSORS.keys() | {"none"}
    assert all(map(is_stored, found.values()))
    for name, tensor in TENSORS.items():
        assert in_memory(found[name]).dtype is tensor.dtype
        assert torch.equal(in_memory(found[name]), tensor)
    assert in_memory(found["none"]).shape == (0, 3)


def test_other_kinds_of_numbers_are_read_at_once(tmp_path):
    path = tmp_path / "x.safetensors"
    write_safetensors_file(path, TENSORS | {"small": torch.ones(3).to(torch.float8_e4m3fn)})
    found = index_safetensors_file(path)
    assert not any(map(is_stored, found.values()))
    assert torch.equal(found["F32"], TENSORS["F32"])


def test_a_file_that_is_cut_while_it_is_read_is_a_named_error(tmp_path):
    path = tmp_path / "x.safetensors"
    write_safetensors_file(path, TENSORS)
    found = index_safetensors_file(path)
    with path.open("r+b") as file:
        file.truncate(200)
    with pytest.raises(NotACheckpoint, match=r"x\.safetensors has become shorter"):
        in_memory(found["F64"])


@pytest.mark.parametrize(
    ("header", "content"),
    [
        ([], b""),
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"1234"),
        ({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}, b"12345678"),
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}}, b"12345678"),
        ({"a": {"dtype": "F32", "shape": [0, 2**62, 2], "data_offsets": [0, 0]}}, b""),
        ({"a": {"dtype": "F32", "shape": [0, 2**64 - 1], "data_offsets": [0, 0]}}, b""),
        ({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, b"1234"),
        ({"a": {"dtype": "XX", "shape": [1], "data_offsets": [0, 4]}}, b"1234"),
    ],
)
def test_headers_that_lie_are_refused(tmp_path, header, content):
    with pytest.raises(NotACheckpoint, match="not a safetensors file"):
        index_safetensors_file(written(tmp_path / "x.safetensors", header, content))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotACheckpoint, match=r"x\.safetensors"):
        index_safetensors_file(tmp_path / "x.safetensors")
