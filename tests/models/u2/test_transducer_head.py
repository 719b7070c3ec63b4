"""A transducer on a U2 model's encoder: its configuration, and how our own format keeps it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from tiny_models import TINY, TINY_HEADS, TINY_TOKENIZER

from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.own_format import save_model
from earshot.models.config import ModelConfig
from earshot.models.errors import (
    ConfigError,
    MissingKeys,
    ShapeMismatch,
    TokenizerError,
    UnknownKeys,
)
from earshot.models.u2.u2 import U2Model


@pytest.fixture(params=TINY_HEADS)
def model(request: pytest.FixtureRequest) -> U2Model:
    torch.manual_seed(3)
    config = replace(TINY, transducer=TINY_HEADS[request.param])
    return U2Model(config).eval().requires_grad_(False)


def with_head(**changes: object) -> ModelConfig:
    head = {**asdict(TINY_HEADS["tdt"]), **changes}
    return ModelConfig.from_dict({**TINY.to_dict(), "transducer": head})


def reload_with(folder: Path, changes: dict[str, Any]) -> U2Model:
    path = folder / "config.json"
    header = json.loads(path.read_text())
    header["model"] |= changes
    path.write_text(json.dumps(header))
    return u2_of(load_model(folder))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int8])
def test_a_saved_model_has_its_head_again(
    tmp_path: Path, model: U2Model, dtype: torch.dtype
) -> None:
    save_model(tmp_path, model, TINY_TOKENIZER, "spoken", dtype)
    found = u2_of(load_model(tmp_path))
    assert found.config == model.config
    bound = {torch.float32: 0.0, torch.float16: 1e-3, torch.int8: 0.02}[dtype]
    for key, tensor in model.state_dict().items():
        torch.testing.assert_close(found.state_dict()[key], tensor, rtol=0, atol=bound)


def test_the_heads_tensors_are_named_after_it(model: U2Model) -> None:
    plain = U2Model(TINY).state_dict().keys()
    new = model.state_dict().keys() - plain
    assert plain < model.state_dict().keys()
    assert all(key.startswith(("transducer.predictor.", "transducer.joint.")) for key in new)


def test_a_model_without_one_is_written_without_naming_it(tmp_path: Path) -> None:
    save_model(tmp_path, U2Model(TINY), TINY_TOKENIZER, "plain")
    assert "transducer" not in json.loads((tmp_path / "config.json").read_text())["model"]
    assert u2_of(load_model(tmp_path)).transducer is None
    assert reload_with(tmp_path, {"transducer": None}).transducer is None


def test_a_head_hears_the_narrow_frames() -> None:
    encoder, head = replace(TINY.encoder, narrow=6), TINY_HEADS["rnnt"]
    config = replace(TINY, encoder=encoder, transducer=replace(head, encoder_size=6))
    found = U2Model(config).transducer
    assert found is not None
    assert found.joint.encoder.in_features == 6
    with pytest.raises(ConfigError, match="encoder_size=16 cannot hear frames of 6"):
        replace(config, transducer=head)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder_size": 17}, "encoder_size=17 cannot hear frames of 16"),
        ({"vocab_size": 10}, "vocab_size=10 cannot say 11 units"),
        ({"durations": [0]}, "durations: nothing but 0"),
        ({"durations": [1, 1]}, "durations: one is named twice"),
        ({"durations": [1, 2.0]}, "durations: 2.0 is not within"),
        ({"durations": [-1, 1]}, "durations: -1 is not within"),
        ({"durations": 4}, "durations are not a list"),
        ({"durations": {}}, "durations are not a list"),
        ({"activation": ["relu"]}, "activation"),
        ({"predictor_size": True}, "transducer.predictor_size=True"),
        ({"joint_size": 10**9}, "joint_size"),
        ({"surprise": 1}, "transducer has unknown keys: surprise"),
    ],
)
def test_hostile_heads_are_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        with_head(**changes)


@pytest.mark.parametrize("head", [3, [], "rnnt", {}])
def test_what_is_no_head_is_refused_by_name(head: object) -> None:
    with pytest.raises(ConfigError, match="transducer"):
        ModelConfig.from_dict({**TINY.to_dict(), "transducer": head})


def test_a_head_without_weights_is_refused(tmp_path: Path) -> None:
    save_model(tmp_path, U2Model(TINY), TINY_TOKENIZER, "plain")
    with pytest.raises(MissingKeys, match=r"transducer\.joint\.encoder\.bias"):
        reload_with(tmp_path, {"transducer": asdict(TINY_HEADS["rnnt"])})


def test_weights_without_a_head_are_refused(tmp_path: Path, model: U2Model) -> None:
    save_model(tmp_path, model, TINY_TOKENIZER, "spoken")
    with pytest.raises(UnknownKeys, match=r"transducer\.joint\.encoder\.bias"):
        reload_with(tmp_path, {"transducer": None})


def test_a_missing_tensor_of_the_head_is_named(tmp_path: Path, model: U2Model) -> None:
    save_model(tmp_path, model, TINY_TOKENIZER, "spoken")
    path = tmp_path / "model.safetensors"
    weights = safetensors.torch.load_file(path)
    del weights["transducer.predictor.lstm.bias_hh_l0"]
    safetensors.torch.save_file(weights, path)
    with pytest.raises(MissingKeys, match=r"transducer\.predictor\.lstm\.bias_hh_l0"):
        load_model(tmp_path)


def test_a_head_of_another_shape_is_refused(tmp_path: Path, model: U2Model) -> None:
    save_model(tmp_path, model, TINY_TOKENIZER, "spoken")
    head = {**asdict(model.config.transducer), "joint_size": 13}  # type: ignore[call-overload]
    with pytest.raises(ShapeMismatch, match=r"transducer\.joint"):
        reload_with(tmp_path, {"transducer": head})


def test_a_blank_that_could_be_spoken_is_refused(tmp_path: Path, model: U2Model) -> None:
    save_model(tmp_path, model, TINY_TOKENIZER, "spoken")
    with pytest.raises(TokenizerError, match="a transducer could say 'A'"):
        reload_with(tmp_path, {"blank_id": 2})
