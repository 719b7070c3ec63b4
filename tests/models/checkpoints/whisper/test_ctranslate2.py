"""CTranslate2's `model.bin`: what is refused, and why."""

import contextlib
import math
import struct
from pathlib import Path

import pytest
import torch
from ctranslate2_writer import binary, text, variable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earshot.models.checkpoints.whisper import ctranslate2_file
from earshot.models.checkpoints.whisper.checkpoint import read_whisper
from earshot.models.checkpoints.whisper.ctranslate2_file import read_variables
from earshot.models.errors import (
    CheckpointError,
    DamagedWeights,
    MissingKeys,
    NotACheckpoint,
    ShapeMismatch,
    UnknownKeys,
    UnsafeCheckpoint,
    UnusableNumbers,
)

ONE = {"a": torch.arange(6.0).reshape(2, 3)}
KEY_BIAS = slice(16, 32)
IN_BLOCK = "encoder/layer_0/self_attention/linear_0"


@pytest.fixture
def file(whispers: Path) -> Path:
    return whispers / "ctranslate2_int8" / "model.bin"


def change(file: Path, **changed: torch.Tensor | None) -> Path:
    """Variables replaced or, with None, left out; names are written with `__` for a slash."""
    variables = read_variables(file)
    for name, value in changed.items():
        variables[name.replace("__", "/")] = value
    file.write_bytes(binary({k: v for k, v in variables.items() if v is not None}))
    return file


def write(folder: Path, content: bytes) -> Path:
    (folder / "model.bin").write_bytes(content)
    return folder / "model.bin"


def aliased_twice(variables: dict[str, torch.Tensor]) -> bytes:
    named = text(b"b") + text(b"a")
    return binary(variables)[:-4] + struct.pack("<I", 2) + 2 * named


def empty(*axes: int) -> bytes:
    """A variable of no numbers, with these axes after one of 0."""
    count = len(axes) + 1
    return text(b"a") + struct.pack(f"<B{count}IBI", count, 0, *axes, 0, 0)


def test_a_file_is_known_without_its_folder(file):
    assert read_whisper(file).dims == read_whisper(file.parent).dims


def test_variables_and_aliases_are_read_as_written(tmp_path):
    variables = {**ONE, "a_scale": torch.ones(2), "empty": torch.empty(0, 3)}
    found = read_variables(write(tmp_path, binary(variables, {"b": "a"})))
    assert found.keys() == {"a", "a_scale", "b", "b_scale", "empty"}
    torch.testing.assert_close(found["b"], ONE["a"])


@pytest.mark.parametrize("kind", [torch.float32, torch.int8])
def test_aliases_that_claim_far_more_than_the_file_has_are_refused(tmp_path, kind):
    block = {"a": torch.ones(100, 100, dtype=kind), "a_scale": torch.ones(100)}
    few, many = ({f"b{number}": "a" for number in range(count)} for count in (2, 50))
    assert len(read_variables(write(tmp_path, binary(block, few)))) == 6
    with pytest.raises(UnsafeCheckpoint, match="claims"):
        read_variables(write(tmp_path, binary(block, many)))


def test_a_hundred_thousand_aliases_take_no_time(tmp_path):
    many = {f"b{number}": "a" for number in range(100_000)}
    assert len(read_variables(write(tmp_path, binary({"a": torch.ones(1)}, many)))) == 100_001


@pytest.mark.parametrize("kept", [0, 3, 17, 40, 1000, -1])
def test_a_truncated_file_is_refused(file, kept):
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(NotACheckpoint):
        read_variables(file)


def test_bytes_after_the_end_are_refused(file):
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(NotACheckpoint, match="1 bytes after its end"):
        read_whisper(file)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (binary(ONE, version=5), CheckpointError, "version 5; 6 is read"),
        (binary(ONE, kind=b"TransformerSpec"), CheckpointError, "holds a 'TransformerSpec'"),
        (binary(ONE, {"b": "c"}), NotACheckpoint, "no 'c' for 'b'"),
        (binary(ONE, {"b": "a", "c": "b"}), NotACheckpoint, "no 'b' for 'c'"),
        (binary(ONE, {"a": "a"}), NotACheckpoint, "'a' twice"),
        (aliased_twice(ONE), NotACheckpoint, "'b' twice"),
        (binary([variable("a", ONE["a"])] * 2), NotACheckpoint, "'a' twice"),
        (binary([text(b"a") + struct.pack("<BBI", 0, 6, 1) + b"a"]), UnusableNumbers, "type 6"),
        (binary([text(b"a") + struct.pack("<B", 5)]), NotACheckpoint, "5 axes"),
        (binary([empty(2**32 - 1, 2**32 - 1)]), NotACheckpoint, "an axis of 4294967295"),
        (binary([empty(2**20 + 1, 1)]), NotACheckpoint, "an axis of 1048577"),
        (binary([text(b"\xff")]), NotACheckpoint, "no UTF-8"),
        (binary([struct.pack("<H", 3) + b"abc"]), NotACheckpoint, "'abc' does not end"),
        (binary([text(b"a") + struct.pack("<BIBI", 1, 3, 0, 8)]), NotACheckpoint, "8 bytes for"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path, content, error, message):
    with pytest.raises(error, match=message):
        read_variables(write(tmp_path, content))


@pytest.mark.parametrize(
    "axes", [(2**12,) * 2, (2**16 - 1, 2**16 + 1), (2**20,) * 4, (2**32 - 1,) * 4]
)
def test_nothing_is_allocated_that_a_file_does_not_hold(tmp_path, axes):
    size = min(math.prod(axes), 2**32 - 1)
    shape = struct.pack(f"<B{len(axes)}IBI", len(axes), *axes, 1, size)
    with pytest.raises(NotACheckpoint, match=r"truncated|bytes for|an axis of"):
        read_variables(write(tmp_path, binary([text(b"a") + shape])))


def test_a_count_of_billions_is_no_trouble(tmp_path):
    content = binary(ONE)
    at = content.index(struct.pack("<II", 3, 1)) + 4
    with pytest.raises(NotACheckpoint, match="damaged"):
        read_variables(write(tmp_path, content[:at] + b"\xff" * 4 + content[at + 4 :]))


def test_a_file_of_absurd_size_is_not_read(file, monkeypatch):
    monkeypatch.setattr(ctranslate2_file, "MAX_FILE_BYTES", 10_000)
    with pytest.raises(UnsafeCheckpoint, match="no model of ours is that large"):
        read_whisper(file)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(at=st.integers(0, 33_000), value=st.integers(0, 255))
def test_a_damaged_byte_is_a_named_error_or_another_weight(file, at, value):
    content = bytearray(file.read_bytes())
    content[at] = value
    damaged = write(file.parent.parent, bytes(content))
    with contextlib.suppress(CheckpointError):
        assert read_whisper(damaged).dims.audio_size == 16


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"surprise": torch.ones(2)}, UnknownKeys, "surprise"),
        ({"encoder__layer_01__ffn__linear_0__bias": torch.ones(4)}, UnknownKeys, "layer_01"),
        ({"encoder__layer_norm__weight": torch.ones(16)}, UnknownKeys, "layer_norm/weight"),
        ({"encoder__conv1__weight": None}, UnknownKeys, "conv1/weight_scale"),
        ({"encoder__layer_1__ffn__linear_0__bias": None}, MissingKeys, r"blocks\.1\.mlp\.0\.bias"),
        ({"encoder__layer_9__ffn__linear_0__bias": torch.ones(4)}, MissingKeys, r"blocks\.2"),
        ({"encoder__conv1__weight_scale": None}, MissingKeys, "conv1/weight_scale"),
        ({"encoder__conv1__weight_scale": torch.ones(3)}, ShapeMismatch, "its scales for rows"),
        ({"encoder__conv1__weight_scale": torch.zeros(16)}, DamagedWeights, "weight_scale"),
        ({"encoder__conv1__weight_scale": -torch.ones(16)}, DamagedWeights, "weight_scale"),
        ({"encoder__conv1__weight_scale": torch.ones(16).char()}, MissingKeys, "scale_scale"),
        ({"encoder__conv1__weight_scale": torch.ones(16).int()}, UnusableNumbers, "int32"),
        ({"encoder__conv1__weight": torch.ones(16, 10, 3).short()}, UnusableNumbers, "t holds"),
        ({"encoder__conv1__bias": torch.ones(16).short()}, UnusableNumbers, "int16"),
        ({"encoder__conv1__bias": torch.full((16,), torch.nan)}, DamagedWeights, "conv1.bias"),
        ({"encoder__conv1__bias": torch.ones(8)}, ShapeMismatch, "conv1.bias"),
        ({"encoder__conv1__bias": torch.tensor(1.0)}, ShapeMismatch, "conv1/bias"),
        ({"encoder__num_heads": torch.tensor(3).short()}, ShapeMismatch, "3 heads"),
        ({"encoder__num_heads": torch.tensor(0).short()}, ShapeMismatch, "0 heads"),
        ({"encoder__num_heads": torch.ones(2).short()}, ShapeMismatch, "one whole number"),
        ({"encoder__num_heads": None}, ShapeMismatch, "0 heads"),
        ({"decoder__activation": torch.tensor(0).char()}, CheckpointError, "is 0, and 3"),
        ({"decoder__projection__weight": torch.ones(335, 16)}, CheckpointError, "differs from"),
        ({f"{IN_BLOCK}__bias".replace("/", "__"): torch.ones(48)}, CheckpointError, "not zero"),
        ({f"{IN_BLOCK}__bias".replace("/", "__"): torch.ones(47)}, ShapeMismatch, "3 equal parts"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_weight_is_named(file, changed, error, message):
    with pytest.raises(error, match=message):
        read_whisper(change(file, **changed))
