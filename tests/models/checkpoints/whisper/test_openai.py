"""Weights under OpenAI's names: their `.pt`, tensors alone, safetensors; and what is refused."""

import os
from pathlib import Path

import pytest
import safetensors.torch
import torch
from whisper_oracle import encode

from earshot.models.checkpoints.whisper.checkpoint import read_whisper
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

BIAS = "encoder.conv1.bias"


@pytest.fixture
def file(whispers: Path) -> Path:
    return whispers / "openai.pt"


def content_of(file: Path) -> dict:
    return torch.load(file, weights_only=True)


def change(file: Path, dims=(), weights=(), **more) -> Path:
    content = content_of(file)
    content["dims"] |= dict(dims)
    state = content["model_state_dict"] | dict(weights)
    content["model_state_dict"] = {name: w for name, w in state.items() if w is not None}
    torch.save(content | more, file)
    return file


def with_heads_of_64(file: Path) -> dict[str, torch.Tensor]:
    """An encoder of 128 channels, whose heads nobody states."""
    weights = content_of(file)["model_state_dict"]
    wider = {n: w.repeat(*[8 if size in (16, 64) else 1 for size in w.shape])
             for n, w in weights.items() if n.startswith("encoder.")}  # fmt: skip
    return {name: weight.contiguous() for name, weight in wider.items()}


def test_the_older_container_is_the_same(file, tmp_path):
    older = tmp_path / "older.pt"
    torch.save(content_of(file), older, _use_new_zipfile_serialization=False)
    assert read_whisper(older).dims == read_whisper(file).dims


def test_weights_are_float32_and_own_their_memory(file):
    tensors = read_whisper(file).tensors.values()
    assert {tensor.dtype for tensor in tensors} == {torch.float32}
    assert len({tensor.data_ptr() for tensor in tensors}) == len(tensors)


def test_an_encoder_alone_is_read_with_heads_of_64(file, tmp_path):
    path = tmp_path / "encoder.safetensors"
    safetensors.torch.save_file(with_heads_of_64(file), path)
    whisper = read_whisper(path)
    assert not whisper.has_decoder
    assert (whisper.dims.audio_size, whisper.dims.audio_heads) == (128, 2)
    assert (whisper.dims.vocabulary, whisper.dims.text_blocks, whisper.dims.text_heads) == (0, 0, 0)
    assert encode(whisper, torch.zeros(1, 10, 48)).shape == (1, 24, 128)


def test_tensors_alone_are_read_with_heads_of_64(file, tmp_path):
    torch.save(with_heads_of_64(file), tmp_path / "flat.pt")
    assert read_whisper(tmp_path / "flat.pt").dims.audio_heads == 2


def test_heads_are_not_guessed_where_64_does_not_fit(file, tmp_path):
    torch.save(content_of(file)["model_state_dict"], tmp_path / "flat.pt")
    with pytest.raises(ShapeMismatch, match="16 channels do not fall into 0 heads"):
        read_whisper(tmp_path / "flat.pt")


def test_a_file_of_hugging_faces_is_told_from_its_folder(whispers):
    with pytest.raises(CheckpointError, match="name its folder instead"):
        read_whisper(whispers / "hugging_face" / "model.safetensors")


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ({"encoder.more": torch.ones(2)}, UnknownKeys, r"encoder\.more"),
        ({"decoder.blocks.1.cross_attn.key.bias": torch.ones(16)}, UnknownKeys, "key.bias"),
        ({BIAS: None}, MissingKeys, r"encoder\.conv1\.bias"),
        ({"encoder.positional_embedding": None}, MissingKeys, "positional_embedding"),
        ({BIAS: torch.ones(15)}, ShapeMismatch, r"\(15,\) in the file, \(16,\)"),
        ({BIAS: torch.full((16,), -torch.inf)}, DamagedWeights, BIAS),
        ({BIAS: torch.ones(16, dtype=torch.int8)}, UnusableNumbers, "int8"),
        ({BIAS: torch.ones(16).to(torch.float8_e5m2)}, UnusableNumbers, "float8"),
        ({BIAS: torch.ones(16, dtype=torch.complex64)}, NotACheckpoint, "dense tensor"),
        ({BIAS: torch.zeros(1).expand(10**6, 10**6)}, UnsafeCheckpoint, "claims"),
        ({"encoder.blocks.999999.x": torch.ones(1)}, UnknownKeys, "999999"),
    ],
)
def test_what_is_wrong_with_a_weight_is_named(file, weights, error, message):
    with pytest.raises(error, match=message):
        read_whisper(change(file, weights=weights))


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ({"n_audio_layer": 3}, "states audio_blocks 3, its tensors have 2"),
        ({"n_text_layer": 10**15}, "states text_blocks 1000000000000000"),
        ({"n_audio_state": 32}, "states audio_size 32"),
        ({"n_text_head": 3}, "16 channels do not fall into 3 heads"),
        ({"n_mels": 10.0}, "n_mels 10.0, which is no size"),
        ({"n_mels": "many"}, "n_mels 'many'"),
        ({"n_mels": -1}, "n_mels -1"),
        ({"n_more": 1}, "should state the dims"),
    ],
)
def test_dims_that_do_not_fit_are_refused(file, dims, message):
    with pytest.raises(CheckpointError, match=message):
        read_whisper(change(file, dims=dims))


def test_something_beside_dims_and_weights_is_named(file):
    with pytest.raises(UnknownKeys, match="optimizer"):
        read_whisper(change(file, optimizer={}))


def test_dims_without_the_text_side_they_state_are_refused(file):
    text = {name: None for name in content_of(file)["model_state_dict"] if "decoder" in name}
    with pytest.raises(ShapeMismatch, match="states vocabulary 335, its tensors have 0"):
        read_whisper(change(file, weights=text))


class Attack:
    def __reduce__(self):
        return os.mkdir, ("pwned",)


def test_code_is_refused_and_not_run(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsafeCheckpoint, match="more than tensors"):
        read_whisper(change(file, dims={"n_mels": Attack()}))
    assert not Path("pwned").exists()


@pytest.mark.parametrize("kept", [0.2, 0.9, 0.999])
def test_a_truncated_file_is_refused(file, kept):
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(NotACheckpoint, match="truncated"):
        read_whisper(file)


@pytest.mark.parametrize(
    "content", [b"", b"RIFF....WAVEfmt ", b"\x80\x04K\x01.", b"{" * 8 + b"[" * 9]
)
def test_garbage_is_refused(file, content):
    file.write_bytes(content)
    with pytest.raises(NotACheckpoint, match="no weight file of a Whisper"):
        read_whisper(file)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(CheckpointError, match=r"cannot read .*tiny\.pt"):
        read_whisper(tmp_path / "tiny.pt")
    with pytest.raises(CheckpointError, match="holds no Whisper"):
        read_whisper(tmp_path)
