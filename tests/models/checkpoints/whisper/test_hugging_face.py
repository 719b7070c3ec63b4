"""Folders of Hugging Face's transformers: their forms, and what is refused."""

import json
import os
from pathlib import Path

import pytest
import safetensors.torch
import torch

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

INDEX = "model.safetensors.index.json"
TOKENS = "model.decoder.embed_tokens.weight"
OF_8_BITS = torch.ones(335, 16).to(torch.float8_e4m3fn)
CONV1 = "model.encoder.conv1.weight"


@pytest.fixture
def folder(whispers: Path) -> Path:
    return whispers / "hugging_face"


@pytest.fixture
def sharded(whispers: Path) -> Path:
    return whispers / "sharded"


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return safetensors.torch.load((folder / "model.safetensors").read_bytes())


def change(folder: Path, changed: dict[str, torch.Tensor | None]) -> None:
    weights = weights_of(folder) | changed
    kept = {name: weight for name, weight in weights.items() if weight is not None}
    safetensors.torch.save_file(kept, folder / "model.safetensors")


def rewrite(path: Path, **changed: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def assert_same_weights(found: Path, expected: Path) -> None:
    ours, theirs = read_whisper(found).tensors, read_whisper(expected).tensors
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_weights_in_several_files_are_the_same(folder, sharded):
    assert_same_weights(sharded, folder)


def test_older_releases_pickled_weights_are_the_same(folder, sharded):
    weights = weights_of(folder)
    weights["proj_out.weight"] = weights["model.decoder.embed_tokens.weight"]
    for path in sharded.glob("*.safetensors*"):
        path.unlink()
    torch.save(weights, sharded / "pytorch_model.bin")
    assert_same_weights(sharded, folder)


def test_a_model_without_its_output_layer_is_the_same(folder, sharded):
    weights = {name.removeprefix("model."): w for name, w in weights_of(folder).items()}
    for path in sharded.glob("*.safetensors*"):
        path.unlink()
    safetensors.torch.save_file(weights, sharded / "model.safetensors")
    assert_same_weights(sharded, folder)


def test_the_tokenizer_lies_beside_the_weights(folder, sharded):
    assert read_whisper(folder).tokenizer == folder
    assert read_whisper(sharded).tokenizer is None


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"model.surprise.weight": torch.ones(2)}, UnknownKeys, r"surprise\.weight"),
        ({"model.encoder.layers.0.fc3.bias": torch.ones(2)}, UnknownKeys, "fc3"),
        ({"model.encoder.layers.00.fc1.bias": torch.ones(2)}, UnknownKeys, r"layers\.00"),
        ({"encoder.conv1.weight": torch.ones(2)}, UnknownKeys, r"model\.encoder\.conv1"),
        ({"model.encoder.layers.0.self_attn.k_proj.bias": torch.ones(2)}, UnknownKeys, "key.bias"),
        ({CONV1: None}, MissingKeys, r"encoder\.conv1\.weight"),
        ({"model.decoder.layers.1.fc1.bias": None}, MissingKeys, r"decoder\.blocks\.1\.mlp\.0"),
        ({CONV1: torch.ones(16, 10, 5)}, ShapeMismatch, r"conv1\.weight"),
        ({CONV1: torch.ones(16, 10)}, ShapeMismatch, "3 axes"),
        ({CONV1: torch.ones(16, 9, 3)}, ShapeMismatch, "states mels 10, its tensors have 9"),
        ({CONV1: torch.ones(16, 10, 3).int()}, UnusableNumbers, "int32"),
        ({CONV1: torch.full((16, 10, 3), torch.inf)}, DamagedWeights, "conv1"),
        ({"proj_out.weight": torch.ones(335, 16)}, CheckpointError, "differs from"),
        ({"proj_out.weight": OF_8_BITS}, UnusableNumbers, r"proj_out\.weight holds .*float8"),
        ({"proj_out.weight": OF_8_BITS, TOKENS: OF_8_BITS.clone()}, UnusableNumbers, "float8"),
    ],
)
def test_what_is_wrong_with_a_weight_is_named(folder, changed, error, message):
    change(folder, changed)
    with pytest.raises(error, match=message):
        read_whisper(folder)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model_type": "bart"}, "model_type 'bart'"),
        ({"activation_function": "relu"}, "activation_function 'relu'"),
        ({"scale_embedding": True}, "scale_embedding True"),
        ({"tie_word_embeddings": 1}, "tie_word_embeddings 1"),
        ({"d_model": "16"}, "d_model '16', which is no size"),
        ({"d_model": -16}, "d_model -16"),
        ({"encoder_layers": True}, "encoder_layers True"),
        ({"encoder_layers": 10**12}, "states audio_blocks 1000000000000, its tensors have 2"),
        ({"vocab_size": 336}, "states vocabulary 336, its tensors have 335"),
        ({"encoder_attention_heads": 5}, "16 channels do not fall into 5 heads"),
        ({"decoder_attention_heads": 0}, "16 channels do not fall into 0 heads"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(folder, changed, message):
    rewrite(folder / "config.json", **changed)
    with pytest.raises(CheckpointError, match=message):
        read_whisper(folder)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, " " * 5_000_000])
def test_a_spoilt_configuration_is_refused(folder, text):
    (folder / "config.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"config\.json"):
        read_whisper(folder)


def test_heads_are_those_of_the_configuration(folder):
    rewrite(folder / "config.json", encoder_attention_heads=8, decoder_attention_heads=1)
    dims = read_whisper(folder).dims
    assert (dims.audio_heads, dims.text_heads) == (8, 1)


@pytest.mark.parametrize("name", ["../stolen", "/etc/passwd", "", ".", "..", "a/b", "a\0b", 3, []])
def test_an_index_leads_to_no_other_folder(sharded, name):
    index = json.loads((sharded / INDEX).read_text())
    rewrite(sharded / INDEX, weight_map=index["weight_map"] | {CONV1: name})
    with pytest.raises(UnsafeCheckpoint, match="no file beside it"):
        read_whisper(sharded)


def test_shards_hold_what_the_index_lists(sharded):
    weight_map = json.loads((sharded / INDEX).read_text())["weight_map"]
    shard = weight_map[CONV1]
    rewrite(sharded / INDEX, weight_map=weight_map | {"model.more": shard})
    with pytest.raises(MissingKeys, match=r"model\.more"):
        read_whisper(sharded)
    del weight_map[CONV1]
    rewrite(sharded / INDEX, weight_map=weight_map)
    with pytest.raises(UnknownKeys, match="conv1"):
        read_whisper(sharded)


@pytest.mark.parametrize("content", [{}, [], "model.safetensors", None])
def test_an_index_without_weights_is_refused(sharded, content):
    rewrite(sharded / INDEX, weight_map=content)
    with pytest.raises(CheckpointError, match="lists no weights"):
        read_whisper(sharded)


def test_a_missing_shard_is_named(sharded):
    (sharded / "model-00002-of-00004.safetensors").unlink()
    with pytest.raises(NotACheckpoint, match="model-00002"):
        read_whisper(sharded)


@pytest.mark.parametrize("kept", [0, 7, 100, -1])
def test_truncated_weights_are_refused(folder, kept):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(NotACheckpoint, match=r"model\.safetensors"):
        read_whisper(folder)


class Attack:
    def __reduce__(self):
        return os.mkdir, ("pwned",)


def test_a_pickle_with_code_is_refused_and_not_run(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (folder / "model.safetensors").unlink()
    torch.save({"weight": Attack()}, folder / "pytorch_model.bin")
    with pytest.raises(UnsafeCheckpoint, match="more than tensors"):
        read_whisper(folder)
    assert not Path("pwned").exists()
