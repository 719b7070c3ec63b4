"""Phones: a second CTC head in frames of its own, and how a model keeps it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tiny_models import TINY, TINY_TOKENIZER

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.own_format import save_model
from earshot.models.config import ModelConfig
from earshot.models.errors import ConfigError, MissingKeys
from earshot.models.layers.phone_head import PhoneHead
from earshot.models.u2.u2 import U2Model


def test_each_encoder_frame_becomes_some_phone_frames_in_their_order() -> None:
    head = PhoneHead(phones=2, rate=2, size=6)
    with torch.no_grad():
        head.ctc_lo.weight.copy_(torch.eye(6))
        head.ctc_lo.bias.zero_()
    encoded = torch.zeros(1, 2, 6)
    encoded[0, 0, 1], encoded[0, 0, 5], encoded[0, 1, 0], encoded[0, 1, 4] = 9.0, 9.0, 9.0, 9.0
    log_probs = head(encoded)
    assert log_probs.shape == (1, 4, 3)
    assert log_probs.argmax(-1).tolist() == [[1, 2, 0, 1]]
    torch.testing.assert_close(log_probs.exp().sum(-1), torch.ones(1, 4))


def with_phones(**changes: object) -> ModelConfig:
    values = {**TINY.to_dict(), "phones": ["A", "B"], "phone_rate": 2}
    return ModelConfig.from_dict({**values, **changes})


def test_a_model_keeps_its_phones(tmp_path: Path) -> None:
    config = with_phones()
    model = U2Model(config)
    save_model(tmp_path, model, TINY_TOKENIZER, "phones")
    loaded = load_model(tmp_path)
    assert loaded.ctc.phone_symbols == ("<blank>", "A", "B")
    found = loaded.model
    encoded = torch.randn(1, 3, config.encoder.output_size)
    assert found.config == config
    torch.testing.assert_close(found.phone_log_probs(encoded), model.phone_log_probs(encoded))


def test_phones_without_weights_are_refused(tmp_path: Path) -> None:
    plain = U2Model(with_phones(phones=[]))
    save_model(tmp_path, plain, TINY_TOKENIZER, "plain")
    path = tmp_path / "config.json"
    header = json.loads(path.read_text())
    header["model"]["phones"] = ["A"]
    path.write_text(json.dumps(header))
    with pytest.raises(MissingKeys, match="phone_ctc"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    "phones",
    [["A", "A"], ["A B"], [""], [3], "AB", {"A": 1}, ["É"], [f"P{i}" for i in range(1001)]],
)
def test_phones_that_are_no_names_are_refused(phones: object) -> None:
    with pytest.raises(ConfigError):
        with_phones(phones=phones)


@pytest.mark.parametrize("rate", [0, 17, 1.5, True])
def test_rates_that_cannot_be_are_refused(rate: object) -> None:
    with pytest.raises(ConfigError, match="phone_rate"):
        with_phones(phone_rate=rate)
