import json
import math
from dataclasses import replace

import pytest

from earshot.models.config import EncoderConfig, ModelConfig
from earshot.models.errors import ConfigError
from earshot.models.transducer_config import TransducerConfig
from earshot.models.u2.u2 import U2Model


def test_survives_json(tiny_config):
    text = json.dumps(tiny_config.to_dict())
    assert ModelConfig.from_dict(json.loads(text)) == tiny_config


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"output_size": 31}, "multiple of"),
        ({"output_size": 0}, "output_size"),
        ({"output_size": 10**9}, "output_size"),
        ({"num_blocks": 10**6}, "num_blocks"),
        ({"kind": "branchformer"}, "branchformer"),
        ({"input_layer": "linear"}, "linear"),
        ({"kind": "transformer"}, "rel_pos"),
        ({"causal": False, "cnn_module_kernel": 8}, "odd"),
        ({"dropout_rate": 1.0}, "dropout_rate"),
        ({"input_layer": "whisper"}, "convolution"),
        ({"pool_after_block": 1}, "convolution"),
        ({"use_cnn_module": False, "pool_after_block": 3}, "pool_after_block=3"),
        ({"use_cnn_module": False, "pool_after_block": -1}, "pool_after_block=-1"),
        ({"use_cnn_module": False, "pool_after_block": True}, "pool_after_block=True"),
        ({"narrow": 7}, "narrow must be even"),
        ({"narrow": 0}, "narrow=0"),
        ({"narrow": 8.0}, "narrow=8.0"),
        ({"positions": "whisper", "output_size": 2}, "output_size of 4"),
    ],
)
def test_an_impossible_encoder_is_refused(tiny_config, change, message):
    with pytest.raises(ConfigError, match=message):
        replace(tiny_config.encoder, **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"surprise": 1}, "model has unknown keys: surprise"),
        ({"encoder": {"surprise": 1}}, "encoder has unknown keys: surprise"),
        ({"encoder": 3}, "encoder is not a mapping"),
        ({"encoder": {"num_blocks": "12"}}, "encoder.num_blocks"),
        ({"encoder": {"num_blocks": 2.5}}, "encoder.num_blocks"),
        ({"encoder": {"causal": 1}}, "encoder.causal"),
        ({"vocab_size": True}, "vocab_size"),
        ({"vocab_size": None}, "vocab_size"),
        ({"eos_id": 11}, "eos_id"),
        ({"decoding": {"chunk_size": 0}}, "chunk_size"),
        ({"decoding": {"lm_weight": 11.0}}, "lm_weight"),
        ({"decoding": {"lm_weight": math.nan}}, "lm_weight"),
        ({"decoding": {"graph_beam": 0.0}}, "graph_beam"),
        ({"decoding": {"neural_lm_weight": -1.0}}, "neural_lm_weight"),
        ({"decoding": {"lead_in_ms": 1001}}, "lead_in_ms"),
        ({"decoding": {"lead_in_ms": 0.5}}, "lead_in_ms"),
        ({"decoding": {"flush_with_silence": 1}}, "flush_with_silence"),
        ({"features": {"num_mel_bins": 40}}, "40 bins"),
        ({"features": {"sample_rate_hz": 3_999}}, "sample_rate_hz"),
        ({"features": {"kind": "mfcc"}}, "mfcc"),
        ({"decoder": {"attention_heads": 3}}, "attention_heads=3"),
        ({"loss": {"ctc_weight": float("nan")}}, "ctc_weight"),
    ],
)
def test_wrong_values_are_refused_by_name(tiny_config, change, message):
    with pytest.raises(ConfigError, match=message):
        ModelConfig.from_dict({**tiny_config.to_dict(), **change})


def test_a_model_without_vocabulary_size_is_refused():
    with pytest.raises(ConfigError, match="vocab_size"):
        ModelConfig.from_dict({})


@pytest.mark.parametrize(
    ("options", "streamable"),
    [
        ({}, True),
        ({"causal": False}, False),
        ({"use_dynamic_chunk": False}, False),
        ({"use_dynamic_chunk": False, "static_chunk_size": 16}, True),
        ({"causal": False, "use_cnn_module": False}, True),
        ({"kind": "transformer", "positions": "abs_pos", "causal": False}, True),
    ],
)
def test_knows_whether_it_can_stream(options, streamable):
    assert EncoderConfig(**options).streamable is streamable


def test_any_value_anywhere_is_taken_or_refused_but_nothing_else(tiny_config):
    size = tiny_config.encoder.encoded_size
    head = TransducerConfig(tiny_config.vocab_size, size, predictor_size=4, joint_size=4)
    values, refused = replace(tiny_config, transducer=head).to_dict(), 0
    junk = (None, "x", -1, 0, 10**30, math.inf, math.nan, [], {}, {"a": 1}, True, 2.5)
    sections = [name for name, value in values.items() if isinstance(value, dict)]
    places = [("", name) for name in values]
    places += [(section, name) for section in sections for name in values[section]]
    for section, name in places:
        for value in junk:
            changed = {name: value} if not section else {section: {**values[section], name: value}}
            try:
                assert isinstance(ModelConfig.from_dict({**values, **changed}), ModelConfig)
            except ConfigError:
                refused += 1
    assert refused > 100


def test_heads_take_the_narrow_frames(tiny_config):
    encoder = replace(tiny_config.encoder, narrow=6)
    config = replace(tiny_config, encoder=encoder)
    assert ModelConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    model = U2Model(config)
    assert model.ctc.ctc_lo.in_features == model.encoder.output_size == 6
    with pytest.raises(ConfigError, match="encoder's 10 are not a multiple"):
        replace(
            tiny_config,
            encoder=replace(encoder, narrow=10),
            decoder=replace(tiny_config.decoder, attention_heads=4),
        )
