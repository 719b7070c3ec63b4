"""Folders of transformers through the one door: all model types, and what is refused."""

import json
from pathlib import Path

import pytest
import safetensors.torch
import torch
from hugging_face_writer import (
    CONFIGS,
    LABELS,
    SHARD,
    random_weights,
    write_hugging_face,
    write_json,
    write_shards,
)
from torch import Tensor

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.errors import (
    CheckpointError,
    ConfigError,
    DamagedWeights,
    MissingKeys,
    NotACheckpoint,
    ShapeMismatch,
    TokenizerError,
    UnknownKeys,
    UnsafeCheckpoint,
    UnusableNumbers,
)
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.features.nemo_mel import NemoMel

INDEX = "model.safetensors.index.json"
QUERY = "encoder.layers.0.self_attn.q_proj.weight"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_hugging_face(tmp_path / "tdt", "parakeet_tdt")


def network(folder: Path) -> FastConformerModel:
    model = load_model(folder).model
    assert isinstance(model, FastConformerModel)
    return model


def change(folder: Path, changed: dict[str, Tensor | None]) -> None:
    weights = safetensors.torch.load((folder / "model.safetensors").read_bytes()) | changed
    kept = {name: weight for name, weight in weights.items() if weight is not None}
    safetensors.torch.save_file(kept, folder / "model.safetensors")


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_model_type_loads_and_hears(tmp_path, kind):
    loaded = load_model(write_hugging_face(tmp_path / kind, kind))
    model = loaded.model
    assert isinstance(model, FastConformerModel)
    assert (loaded.name, loaded.format, loaded.family) == (kind, "hugging face", "fastconformer")
    assert loaded.tokenizer.vocab_size == LABELS
    assert (loaded.ctc.blank_id if loaded.ctc else None) == (LABELS if model.ctc else None)
    assert not model.training
    lengths, told = torch.tensor([40]), torch.tensor([3]) if model.prompt else None
    frames, counts = model.encode(torch.randn(1, 40, 16), lengths, languages=told)
    assert frames.isfinite().all()
    assert counts.tolist() == [6 if kind.startswith("nemotron") else 5]


@pytest.mark.parametrize(
    ("kind", "theirs", "ours"),
    [
        ("parakeet_tdt", QUERY, "encoder.layers.0.self_attn.linear_q.weight"),
        ("parakeet_tdt", "encoder.layers.0.self_attn.o_proj.bias",
         "encoder.layers.0.self_attn.linear_out.bias"),
        ("parakeet_tdt", "encoder.layers.0.self_attn.relative_k_proj.weight",
         "encoder.layers.0.self_attn.linear_pos.weight"),
        ("parakeet_tdt", "encoder.layers.0.self_attn.bias_v",
         "encoder.layers.0.self_attn.pos_bias_v"),
        ("parakeet_tdt", "encoder.layers.0.conv.norm.running_var",
         "encoder.layers.0.conv.batch_norm.running_var"),
        ("parakeet_tdt", "encoder.subsampling.layers.6.bias", "encoder.pre_encode.conv.6.bias"),
        ("nemotron3_5_asr", "encoder.subsampling.conv_in.bias", "encoder.pre_encode.conv.0.bias"),
        ("nemotron3_5_asr", "encoder.subsampling.layers.0.depthwise_conv.weight",
         "encoder.pre_encode.conv.2.weight"),
        ("nemotron3_5_asr", "encoder.subsampling.layers.1.pointwise_conv.weight",
         "encoder.pre_encode.conv.6.weight"),
        ("nemotron3_5_asr", "encoder.subsampling.linear.weight", "encoder.pre_encode.out.weight"),
        ("nemotron3_5_asr", "prompt_projector.linear_2.bias", "prompt.2.bias"),
        ("parakeet_rnnt", "decoder.embedding.weight", "transducer.predictor.embed.weight"),
        ("parakeet_rnnt", "decoder.lstm.weight_hh_l1", "transducer.predictor.lstm.weight_hh_l1"),
        ("parakeet_rnnt", "decoder.decoder_projector.weight", "transducer.joint.predictor.weight"),
        ("parakeet_rnnt", "encoder_projector.weight", "transducer.joint.encoder.weight"),
        ("parakeet_rnnt", "joint.head.bias", "transducer.joint.output.bias"),
    ],
)  # fmt: skip
def test_tensors_come_to_their_places(tmp_path, kind, theirs, ours):
    state = network(write_hugging_face(tmp_path / "model", kind)).state_dict()
    assert torch.equal(state[ours], random_weights(kind)[theirs])


def test_the_ctc_heads_convolution_is_a_matrix(tmp_path):
    state = network(write_hugging_face(tmp_path / "ctc", "parakeet_ctc")).state_dict()
    expected = random_weights("parakeet_ctc")["ctc_head.weight"][:, :, 0]
    assert torch.equal(state["ctc.output.weight"], expected)


def test_window_and_filters_are_computed_in_the_precision_that_is_asked_for(tmp_path, folder):
    exact = NemoMel(network(folder).config.features)
    assert torch.equal(network(folder).features.filters, exact.filters)
    rounded = network(write_hugging_face(tmp_path / "35", "nemotron3_5_asr")).features
    assert rounded.window.dtype is torch.float32
    assert torch.equal(rounded.window, exact.window.bfloat16().float())
    assert torch.equal(rounded.filters, exact.filters.bfloat16().float())


def test_a_prompts_tags_of_languages_are_the_models(tmp_path, folder):
    told = load_model(write_hugging_face(tmp_path / "35", "nemotron3_5_asr"))
    assert set(told.languages) == {"en-US", "de"}
    assert load_model(folder).languages == ()


def test_weights_in_several_files_are_the_same(tmp_path, folder):
    write_shards(write_hugging_face(tmp_path / "sharded", "parakeet_tdt"))
    loaded = load_model(tmp_path / "sharded")
    assert loaded.weights == tmp_path / "sharded" / INDEX
    state, expected = loaded.model.state_dict(), network(folder).state_dict()
    assert state.keys() == expected.keys()
    assert all(torch.equal(state[name], expected[name]) for name in expected)


def test_half_precision_runs_as_float32(folder):
    change(folder, {QUERY: random_weights("parakeet_tdt")[QUERY].bfloat16()})
    weight = network(folder).state_dict()["encoder.layers.0.self_attn.linear_q.weight"]
    assert weight.dtype is torch.float32


def test_tensors_that_do_not_fit_are_named(folder):
    change(folder, {QUERY: None})
    with pytest.raises(MissingKeys, match=r"linear_q\.weight"):
        load_model(folder)
    change(folder, {QUERY: torch.zeros(16, 15)})
    with pytest.raises(ShapeMismatch, match=r"linear_q\.weight"):
        load_model(folder)
    change(folder, {QUERY: torch.full((16, 16), torch.nan)})
    with pytest.raises(DamagedWeights, match=r"linear_q\.weight"):
        load_model(folder)
    change(folder, {QUERY: torch.ones(16, 16).to(torch.float8_e4m3fn)})
    with pytest.raises(UnusableNumbers, match=r"linear_q\.weight"):
        load_model(folder)


@pytest.mark.parametrize(
    "name",
    [
        "encoder.layers.0.self_attn.rotary.weight",
        "encoder.layers.0.norm_extra.weight",
        "encoder.layers.01.norm_out.weight",
        "encoder.layers.1.norm_out.weight",
        "encoder.subsampling.layers.8.weight",
        "encoder.subsampling.layers.0.depthwise_conv.weight",
        "encoder.subsampling.conv_in.weights",
        "encoder.pre_encode.conv.0.weight",
        "features.window",
        "ctc_head.weight",
        "joint.other.weight",
        "decoder.lstm.weight_ih_l2",
        "weight",
        "",
    ],
)
def test_a_tensor_without_a_place_is_refused(folder, name):
    change(folder, {name: torch.zeros(2)})
    with pytest.raises(UnknownKeys):
        load_model(folder)


def test_a_missing_shard_and_a_wrong_index_are_refused(folder):
    write_shards(folder)
    index = json.loads((folder / INDEX).read_text())
    places = index["weight_map"]
    write_json(folder / INDEX, {"weight_map": places | {"encoder.more": SHARD.format(1)}})
    with pytest.raises(MissingKeys, match=r"encoder\.more"):
        load_model(folder)
    fewer = {name: place for name, place in places.items() if name != QUERY}
    write_json(folder / INDEX, {"weight_map": fewer})
    with pytest.raises(UnknownKeys, match="q_proj"):
        load_model(folder)
    write_json(folder / INDEX, index)
    (folder / SHARD.format(2)).unlink()
    with pytest.raises(NotACheckpoint, match="00002-of-00002"):
        load_model(folder)


@pytest.mark.parametrize("place", ["../tdt.safetensors", "/etc/passwd", "a/b", "..", "", 3, None])
def test_an_index_leads_nowhere_else(folder, place):
    write_shards(folder)
    write_json(folder / INDEX, {"weight_map": {QUERY: place}})
    with pytest.raises(UnsafeCheckpoint, match="no file beside it"):
        load_model(folder)


@pytest.mark.parametrize("content", [{}, {"weight_map": {}}, {"weight_map": [1]}])
def test_an_index_of_nothing_is_refused(folder, content):
    (folder / "model.safetensors").unlink()
    write_json(folder / INDEX, content)
    with pytest.raises(CheckpointError, match="lists no weights"):
        load_model(folder)


def test_a_folder_without_weights_is_refused(folder):
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match="holds no weights"):
        load_model(folder)
    (folder / "model.safetensors").write_bytes(b"\x00" * 8)
    with pytest.raises(NotACheckpoint):
        load_model(folder)


def test_a_model_of_another_kind_is_told_which_there_are(folder):
    write_json(folder / "config.json", {"model_type": "whisper"})
    with pytest.raises(CheckpointError, match="'whisper', none of parakeet_ctc"):
        load_model(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, '{"a": ' * 50_000, "\ufeff{}", "3"])
def test_hostile_json_is_an_error_of_ours(folder, text):
    for name in ("config.json", "processor_config.json"):
        before = (folder / name).read_text()
        (folder / name).write_text(text)
        with pytest.raises(CheckpointError):
            load_model(folder)
        (folder / name).write_text(before)


def test_our_own_version_makes_a_folder_ours(folder):
    config = json.loads((folder / "config.json").read_text())
    write_json(folder / "config.json", config | {"format_version": 1})
    with pytest.raises(CheckpointError, match="no 'model' section"):
        load_model(folder)


def test_a_tokenizer_that_is_not_there_or_too_small_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    bigger = {"vocab_size": LABELS + 3, "blank_token_id": LABELS + 2}
    write_json(folder / "config.json", config | bigger)
    with pytest.raises(TokenizerError, match="id 7"):
        load_model(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(TokenizerError, match="cannot read the tokenizer"):
        load_model(folder)


def test_a_refusal_of_a_configuration_names_its_folder_and_file(folder):
    write_json(folder / "config.json", CONFIGS["parakeet_tdt"] | {"blank_token_id": None})
    with pytest.raises(ConfigError) as caught:
        load_model(folder)
    assert str(caught.value).startswith(f"{folder}: config.json: blank_token_id is missing")
