"""WeNet's train.yaml, of any era, as our configuration.

Every key of `encoder_conf` and `decoder_conf` that would change the network's output must be one we
implement; the tables below say which are which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from earshot.models.config import (
    DecoderConfig,
    DecodingConfig,
    EncoderConfig,
    FeatureConfig,
    LossConfig,
    ModelConfig,
    read_section,
)
from earshot.models.config_checks import require_number
from earshot.models.errors import ConfigError, quote
from earshot.models.tokenizers.model_tokenizer import TokenizerKind

# Keys that do not change what a trained network computes on given features.
TRAINING_KEYS = {"gradient_checkpointing", "use_sdpa", "use_dynamic_left_chunk"}
# Keys of which we implement one value: WeNet's default, unless a recipe never used another.
ONLY_VALUES: dict[str, tuple[Any, ...]] = {
    "normalize_before": (True,),
    "concat_after": (False,),
    "positionwise_conv_kernel_size": (1,),
    "query_bias": (True,),
    "key_bias": (True,),
    "value_bias": (True,),
    "src_query_bias": (True,),
    "src_key_bias": (True,),
    "src_value_bias": (True,),
    "src_attention": (True,),
    "conv_bias": (True,),
    "conv_inner_factor": (2,),
    "mlp_bias": (True,),
    "mlp_type": ("position_wise_feed_forward",),
    "layer_norm_type": ("layer_norm",),
    "n_kv_head": (None,),
    "head_dim": (None,),
    "n_expert": (8,),
    "n_expert_activated": (2,),
    "final_norm": (True,),
    "use_output_layer": (True,),
    "tie_word_embedding": (False,),
}
ENCODER_KEYS = {
    "output_size",
    "attention_heads",
    "linear_units",
    "num_blocks",
    "causal",
    "cnn_module_kernel",
    "cnn_module_norm",
    "use_cnn_module",
    "macaron_style",
    "use_dynamic_chunk",
    "static_chunk_size",
    "norm_eps",
    "conv_norm_eps",
    "dropout_rate",
    "positional_dropout_rate",
    "attention_dropout_rate",
}
RENAMED_ENCODER_KEYS = {
    "input_layer",
    "pos_enc_layer_type",
    "activation_type",
    "selfattention_layer_type",
}
DECODER_KEYS = {
    "attention_heads",
    "linear_units",
    "num_blocks",
    "r_num_blocks",
    "norm_eps",
    "dropout_rate",
    "positional_dropout_rate",
    "self_attention_dropout_rate",
    "src_attention_dropout_rate",
}
# What WeNet assumes where train.yaml is silent.
ENCODER_DEFAULTS: dict[str, Any] = {
    "output_size": 256,
    "attention_heads": 4,
    "linear_units": 2048,
    "num_blocks": 6,
    "causal": False,
    "cnn_module_norm": "batch_norm",
    "use_dynamic_chunk": False,
}
DECODER_DEFAULTS: dict[str, Any] = {"num_blocks": 6, "r_num_blocks": 0}
ERA_1_NORM_EPS = 1e-12


def read_config(options: Mapping[str, Any], num_units: int) -> ModelConfig:
    """Our configuration from the contents of a train.yaml.

    Raises ConfigError for a network that we do not implement, naming the key.
    """
    _require_kind(options, "model", "asr_model", {"asr_model"})
    vocab_size = options.get("output_dim") or options.get("vocab_size") or num_units
    require_number("output_dim", vocab_size, int)
    features = _read_features(options)
    special = subsection(subsection(options, "tokenizer_conf"), "special_tokens")
    encoder = _read_encoder(options, features.num_mel_bins)
    decoder = _read_decoder(options)
    loss = _read_loss(options, decoder)
    values = {
        "vocab_size": vocab_size,
        "blank_id": subsection(options, "ctc_conf").get("ctc_blank_id", 0),
        "sos_id": special.get("<sos>", vocab_size - 1),
        "eos_id": special.get("<eos>", vocab_size - 1),
    }
    for name, value in values.items():
        require_number(name, value, int)
    return ModelConfig(
        **values,
        features=features,
        encoder=encoder,
        decoder=decoder,
        decoding=DecodingConfig(
            _chunk_size(encoder),
            chunk_sizes=DYNAMIC_CHUNKS if encoder.streamable and encoder.use_dynamic_chunk else (),
            reverse_weight=loss.reverse_weight,
        ),
        loss=loss,
    )


def read_tokenizer_kind(options: Mapping[str, Any]) -> TokenizerKind | None:
    """The tokenizer that train.yaml names; None in eras 1 and 2, which name none.

    Raises ConfigError for tokenizers that we do not implement.
    """
    if subsection(options, "tokenizer_conf").get("split_with_space"):
        raise ConfigError("tokenizer_conf.split_with_space: only false is supported")
    if "tokenizer" not in options:
        return None
    kind = _require_kind(options, "tokenizer", "char", {"char", "bpe"})
    return "bpe" if kind == "bpe" else "char"


DYNAMIC_CHUNKS = (4, 8, 16, 24, -1)
"""Sizes of those that dynamic training draws: 1 to 25 frames, or the whole utterance."""


def _chunk_size(encoder: EncoderConfig) -> int:
    if not encoder.streamable:
        return -1
    return 16 if encoder.use_dynamic_chunk else encoder.static_chunk_size


def _read_loss(options: Mapping[str, Any], decoder: DecoderConfig) -> LossConfig:
    section = subsection(options, "model_conf")
    values = {
        "ctc_weight": section.get("ctc_weight", 0.5),
        "reverse_weight": section.get("reverse_weight", 0.0) if decoder.bidirectional else 0.0,
        "label_smoothing": section.get("lsm_weight", 0.0),
    }
    return read_section(LossConfig, values, "model_conf")


def _read_features(options: Mapping[str, Any]) -> FeatureConfig:
    dataset = subsection(options, "dataset_conf")
    _require_kind(dataset, "feats_type", "fbank", {"fbank"})
    fbank = subsection(dataset, "fbank_conf")
    fbank = fbank or subsection(subsection(options, "collate_conf"), "feature_extraction_conf")
    bins = fbank.get("num_mel_bins", fbank.get("mel_bins", options.get("input_dim", 80)))
    values = {
        "sample_rate_hz": subsection(dataset, "resample_conf").get("resample_rate", 16_000),
        "num_mel_bins": bins,
        "frame_length_ms": fbank.get("frame_length", 25),
        "frame_shift_ms": fbank.get("frame_shift", 10),
    }
    return read_section(FeatureConfig, values, "fbank_conf")


def _read_encoder(options: Mapping[str, Any], input_dim: int) -> EncoderConfig:
    kind = _require_kind(options, "encoder", "conformer", {"conformer", "transformer"})
    section = subsection(options, "encoder_conf")
    _check_keys("encoder_conf", section, ENCODER_KEYS | RENAMED_ENCODER_KEYS)
    is_conformer = kind == "conformer"
    values = ENCODER_DEFAULTS | {"norm_eps": _norm_eps(options)}
    values |= {key: section[key] for key in ENCODER_KEYS if key in section}
    values |= {
        "kind": kind,
        "input_dim": input_dim,
        "input_layer": section.get("input_layer", "conv2d"),
        "positions": section.get("pos_enc_layer_type", "rel_pos" if is_conformer else "abs_pos"),
        "activation": section.get("activation_type", "swish" if is_conformer else "relu"),
    }
    return read_section(EncoderConfig, values, "encoder_conf")


def _read_decoder(options: Mapping[str, Any]) -> DecoderConfig:
    kind = _require_kind(options, "decoder", "bitransformer", {"transformer", "bitransformer"})
    section = subsection(options, "decoder_conf")
    _check_keys("decoder_conf", section, DECODER_KEYS | {"input_layer", "activation_type"})
    _require_kind(section, "input_layer", "embed", {"embed"})
    _require_kind(section, "activation_type", "relu", {"relu"})
    values = DECODER_DEFAULTS | {"kind": kind, "norm_eps": _norm_eps(options)}
    values |= {key: section[key] for key in DECODER_KEYS if key in section}
    return read_section(DecoderConfig, values, "decoder_conf")


def _require_kind(section: Mapping[str, Any], key: str, default: str, kinds: set[str]) -> str:
    """The value of `key`, which must be one of `kinds`."""
    value = section.get(key, default)
    if not isinstance(value, str) or value not in kinds:
        supported = ", ".join(sorted(kinds))
        raise ConfigError(f"{key}: {quote(value)} is not supported ({supported})")
    return value


def _norm_eps(options: Mapping[str, Any]) -> float:
    """LayerNorm's epsilon where train.yaml has none; `collate_conf` is era 1's."""
    return ERA_1_NORM_EPS if "collate_conf" in options else 1e-5


def _check_keys(name: str, section: Mapping[str, Any], known: set[str]) -> None:
    unknown = section.keys() - known - TRAINING_KEYS - ONLY_VALUES.keys()
    if unknown:
        raise ConfigError(f"{name} has keys we do not know: {', '.join(sorted(map(str, unknown)))}")
    for key, values in ONLY_VALUES.items():
        if key in section and section[key] not in values:
            value = quote(section[key])
            raise ConfigError(f"{name}.{key}: {value} is not supported ({values[0]} is)")


def subsection(options: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The mapping at `name`, empty where there is none. Raises ConfigError for anything else."""
    section = options.get(name) or {}
    if not isinstance(section, Mapping):
        raise ConfigError(f"{name} is not a mapping")
    return section
