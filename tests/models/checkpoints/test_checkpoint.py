"""Our own model directories, and telling the formats apart."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch
from tiny_models import TINY_TOKENIZER
from torch import nn

from earshot.models.checkpoints import own_format
from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.own_format import save_model
from earshot.models.errors import (
    CheckpointError,
    ConfigError,
    DamagedWeights,
    MissingKeys,
    ModelError,
    NotACheckpoint,
    ShapeMismatch,
    TokenizerError,
    UnknownKeys,
)
from earshot.models.u2.u2 import U2Model


@pytest.fixture
def model_dir(tmp_path: Path, tiny_models: dict[str, U2Model]) -> Path:
    directory = tmp_path / "tiny"
    save_model(directory, tiny_models["conformer"], TINY_TOKENIZER, name="tiny-test")
    return directory


def rewrite_header(directory: Path, **changes: object) -> None:
    path = directory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_model_says_its_languages_or_does_not(tmp_path, model_dir, tiny_models):
    assert load_model(model_dir).languages == ()
    save_model(
        tmp_path / "two", tiny_models["conformer"], TINY_TOKENIZER, "two",
        languages=("en", "zh-CN"),
    )  # fmt: skip
    assert load_model(tmp_path / "two").languages == ("en", "zh-CN")


def test_a_model_says_its_family_and_is_u2s_where_it_does_not(model_dir):
    path = model_dir / "config.json"
    header = json.loads(path.read_text())
    assert header.pop("family") == "u2"
    path.write_text(json.dumps(header))
    assert load_model(model_dir).family == "u2"


@pytest.mark.parametrize("family", ["transducer", 3, None, ["u2"]])
def test_a_model_of_a_family_that_nobody_knows_is_refused(model_dir, family):
    rewrite_header(model_dir, family=family)
    with pytest.raises(CheckpointError, match="none of u2") as caught:
        load_model(model_dir)
    assert f"is of the family {family!r}" in str(caught.value)


def test_a_family_reads_its_own_directories(model_dir, monkeypatch):
    units = TINY_TOKENIZER
    monkeypatch.setitem(
        own_format.FAMILIES,
        "knocks",
        lambda directory, header: LoadedModel(header["name"], nn.Identity(), units, "earshot"),
    )
    rewrite_header(model_dir, family="knocks", languages=["en"])
    loaded = load_model(model_dir)
    assert (loaded.family, loaded.languages, loaded.ctc) == ("knocks", ("en",), None)
    with pytest.raises(ModelError, match="tiny-test is a model of the family 'knocks', not 'u2'"):
        u2_of(loaded)


@pytest.mark.parametrize("languages", ["en", [1], {"en": 1}, None])
def test_languages_that_are_no_list_of_tags_are_refused(model_dir, languages):
    rewrite_header(model_dir, languages=languages)
    with pytest.raises(CheckpointError, match="'languages' is"):
        load_model(model_dir)


@pytest.mark.parametrize("name", ["conformer", "conformer_bn_k8_conv1d6", "transformer"])
def test_a_saved_model_is_the_same(tmp_path, tiny_models, name):
    model = tiny_models[name]
    save_model(tmp_path / name, model, TINY_TOKENIZER, name=name)
    loaded = load_model(tmp_path / name)
    assert (loaded.name, loaded.format) == (name, "earshot")
    assert loaded.model.config == model.config
    assert loaded.tokenizer.encode("abba") == [2, 3, 3, 2]
    assert not loaded.model.training
    assert not any(weight.requires_grad for weight in loaded.model.parameters())
    for key, tensor in model.state_dict().items():
        torch.testing.assert_close(loaded.model.state_dict()[key], tensor, rtol=0, atol=0)


def test_half_precision_halves_the_file_and_runs_in_float32(tmp_path, tiny_models):
    model, sizes = tiny_models["conformer"], []
    for dtype in (torch.float32, torch.float16):
        directory = tmp_path / str(dtype)
        save_model(directory, model, TINY_TOKENIZER, name="tiny", dtype=dtype)
        sizes.append((directory / "model.safetensors").stat().st_size)
    assert sizes[1] < 0.7 * sizes[0]
    loaded = load_model(directory).model
    assert {weight.dtype for weight in loaded.parameters()} == {torch.float32}
    torch.testing.assert_close(loaded.encoder.global_cmvn.istd, model.encoder.global_cmvn.istd)
    torch.manual_seed(0)
    features, lengths = torch.randn(1, 50, 80), torch.tensor([50])
    with torch.no_grad():
        expected, _ = model.encoder(features, lengths)
        encoded, _ = loaded.encoder(features, lengths)
    torch.testing.assert_close(encoded, expected, rtol=0, atol=2e-2)


def test_golden_models_survive_our_format(golden, tmp_path, assert_same):
    save_model(tmp_path, golden.model, golden.loaded.tokenizer, name="golden")
    loaded = load_model(tmp_path)
    assert loaded.model.config == golden.model.config
    features = golden.features["A"]
    with torch.no_grad():
        encoded, _ = loaded.model.encoder(features, torch.tensor([features.size(1)]))
    assert_same(encoded, golden.arrays["full_A"])
    assert loaded.tokenizer.units == golden.loaded.tokenizer.units


def test_missing_directory_file_and_empty_directory_are_told_apart(tmp_path):
    with pytest.raises(CheckpointError, match="there is no model "):
        load_model(tmp_path / "nowhere")
    (tmp_path / "model.zip").write_bytes(b"PK\x05\x06" + b"\x00" * 18)
    with pytest.raises(NotACheckpoint, match="is a file; a model"):
        load_model(tmp_path / "model.zip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointError, match=r"neither .*\.nemo .*config\.json .*train\.yaml"):
        load_model(tmp_path / "empty")


def write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff" * 1000),
        lambda path: path.write_bytes(b"\xff" * 7 + b"\x7f" + b"{" * 1000),
        lambda path: path.write_bytes(path.read_bytes()[:-10]),
        lambda path: path.write_bytes(path.read_bytes()[:50]),
        lambda path: path.unlink(),
        write_zip,
    ],
    ids=["empty", "garbage", "endless-header", "cut", "cut-header", "missing", "zip"],
)
def test_spoilt_weights_are_refused(model_dir, spoil):
    spoil(model_dir / "model.safetensors")
    with pytest.raises(NotACheckpoint, match=r"model\.safetensors"):
        load_model(model_dir)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"model": 3}', "\x00", "[" * 100_000, "1" * 5_000]
)
def test_a_spoilt_header_is_refused(model_dir, text):
    (model_dir / "config.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"config\.json"):
        load_model(model_dir)


def test_a_later_format_is_refused_by_number(model_dir):
    rewrite_header(model_dir, format_version=2)
    with pytest.raises(CheckpointError, match="version 2"):
        load_model(model_dir)


def test_a_huge_header_is_not_read(model_dir):
    (model_dir / "config.json").write_text(" " * 5_000_000)
    with pytest.raises(CheckpointError, match="too large"):
        load_model(model_dir)


def test_weights_and_configuration_must_agree(model_dir, tiny_models):
    config = tiny_models["conformer"].config
    for change, error, named in (
        ({"num_blocks": 3}, MissingKeys, r"encoder\.encoders\.2"),
        ({"num_blocks": 1}, UnknownKeys, r"encoder\.encoders\.1"),
        ({"linear_units": 25}, ShapeMismatch, "feed_forward"),
    ):
        changed = replace(config, encoder=replace(config.encoder, **change))
        rewrite_header(model_dir, model=changed.to_dict())
        with pytest.raises(error, match=named):
            load_model(model_dir)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_weights_that_are_no_numbers_are_refused(model_dir, value):
    path = model_dir / "model.safetensors"
    weights = safetensors.torch.load_file(path)
    weights["ctc.ctc_lo.bias"][1] = value
    safetensors.torch.save_file(weights, path)
    with pytest.raises(DamagedWeights, match=r"ctc\.ctc_lo\.bias"):
        load_model(model_dir)


def test_a_boastful_configuration_takes_no_memory(model_dir, tiny_models):
    config = tiny_models["conformer"].config
    huge = replace(config.encoder, output_size=16_384, linear_units=16_384, num_blocks=64)
    rewrite_header(model_dir, model=replace(config, encoder=huge).to_dict())
    with pytest.raises(CheckpointError):  # 0.2 TB of weights, were they allocated
        load_model(model_dir)


def test_units_and_configuration_must_agree(model_dir):
    (model_dir / "units.txt").write_text("<blank> 0\nA 1\n")
    with pytest.raises(TokenizerError, match="2 units, the model 11"):
        load_model(model_dir)


def test_an_unknown_configuration_key_is_named(model_dir, tiny_models):
    values = tiny_models["conformer"].config.to_dict()
    rewrite_header(model_dir, model={**values, "surprise": 1})
    with pytest.raises(ConfigError, match="surprise"):
        load_model(model_dir)
