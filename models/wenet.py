"""WeNet model directories of all three eras: train.yaml, final.pt, units.txt, global_cmvn.

Era 1 (2020 to January 2022) and era 2 (to December 2023) have a flat `cmvn_file`; era 3 names its
parts (`cmvn_conf`, `tokenizer_conf`). Every tensor of final.pt must have a place in the network
and every key that would change its output must be one we implement; what is dead is listed here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import yaml
from torch import Tensor

from models.assembly import LoadedModel, assemble
from models.cmvn import GlobalCmvn, read_cmvn
from models.config import (
    DecoderConfig,
    DecoderKind,
    DecodingConfig,
    EncoderConfig,
    EncoderKind,
    FeatureConfig,
    InputLayer,
    LossConfig,
    ModelConfig,
)
from models.errors import CheckpointError, ConfigError
from models.small_file import read_small_text
from models.tokenizer import load_tokenizer
from models.torch_archive import read_state_dict

# Tensors that no forward pass of WeNet reads, or that we compute: era 1's concatenation layers
# and, since March 2024, positional tables.
DEAD_TENSORS = re.compile(
    r"encoder\.encoders\.\d+\.concat_linear\.(weight|bias)"
    r"|decoder\.((left|right)_decoder\.)?decoders\.\d+\.concat_linear[12]\.(weight|bias)"
    r"|encoder\.embed\.pos_enc\.pe"
    r"|decoder\.((left|right)_decoder\.)?embed\.1\.pe"
)
CMVN_TENSORS = ("encoder.global_cmvn.mean", "encoder.global_cmvn.istd")

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


def load_wenet_model(directory: Path) -> LoadedModel:
    """Raises CheckpointError, ConfigError or TokenizerError, see models.errors."""
    options = _read_yaml(directory / "train.yaml")
    weights = _live_tensors(read_state_dict(directory / "final.pt"))
    tokenizer = load_tokenizer(directory, _units_name(directory))
    config = read_config(options, tokenizer.vocab_size)
    weights |= _missing_cmvn(directory, options, weights)
    if not any(key in weights for key in CMVN_TENSORS):
        weights |= _identity_cmvn(config.encoder.input_dim)
    return assemble(directory.name, config, weights, tokenizer, "wenet")


def _read_yaml(path: Path) -> Mapping[str, Any]:
    try:
        options = yaml.safe_load(read_small_text(path))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise CheckpointError(f"{path} is not YAML: {error}") from error
    if not isinstance(options, Mapping):
        raise CheckpointError(f"{path} is not a mapping")
    return options


def _live_tensors(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key: tensor for key, tensor in weights.items() if not DEAD_TENSORS.fullmatch(key)}


def _units_name(directory: Path) -> str:
    """Old archives call the table words.txt."""
    has_old_name_only = (
        not (directory / "units.txt").is_file() and (directory / "words.txt").is_file()
    )
    return "words.txt" if has_old_name_only else "units.txt"


def _missing_cmvn(
    directory: Path, options: Mapping[str, Any], weights: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Statistics from the directory's file where final.pt has none.

    Raises CheckpointError if train.yaml speaks of statistics and there are none.
    """
    if any(key in weights for key in CMVN_TENSORS):
        return {}
    named = _section(options, "cmvn_conf").get("cmvn_file") or options.get("cmvn_file")
    path = directory / (Path(str(named)).name if named else "global_cmvn")
    path = path if path.is_file() else directory / "global_cmvn"
    if path.is_file():
        return dict(zip(CMVN_TENSORS, read_cmvn(path), strict=True))
    if named:
        raise CheckpointError(f"train.yaml names {named}, but neither final.pt nor {path} has it")
    return {}


def _identity_cmvn(size: int) -> dict[str, Tensor]:
    """For a model that was trained on features as they are."""
    identity = GlobalCmvn(size)
    return dict(zip(CMVN_TENSORS, (identity.mean, identity.istd), strict=True))


def read_config(options: Mapping[str, Any], num_units: int) -> ModelConfig:
    """Our configuration from the contents of a train.yaml.

    Raises ConfigError for a network that we do not implement, naming the key.
    """
    kind = options.get("model", "asr_model")
    if kind != "asr_model":
        raise ConfigError(f"model: {kind} is not supported (asr_model is)")
    vocab_size = options.get("output_dim") or options.get("vocab_size") or num_units
    features = _read_features(options)
    special = _section(options, "tokenizer_conf").get("special_tokens") or {}
    loss = _section(options, "model_conf")
    decoder = _read_decoder(options)
    encoder = _read_encoder(options, features.num_mel_bins)
    reverse_weight = loss.get("reverse_weight", 0.0) if decoder.bidirectional else 0.0
    return ModelConfig(
        vocab_size=vocab_size,
        blank_id=_section(options, "ctc_conf").get("ctc_blank_id", 0),
        sos_id=special.get("<sos>", vocab_size - 1),
        eos_id=special.get("<eos>", vocab_size - 1),
        features=features,
        encoder=encoder,
        decoder=decoder,
        decoding=DecodingConfig(chunk_size=_chunk_size(encoder), reverse_weight=reverse_weight),
        loss=LossConfig(
            ctc_weight=loss.get("ctc_weight", 0.5),
            reverse_weight=reverse_weight,
            label_smoothing=loss.get("lsm_weight", 0.0),
        ),
    )


def _chunk_size(encoder: EncoderConfig) -> int:
    if not encoder.streamable:
        return -1
    return 16 if encoder.use_dynamic_chunk else encoder.static_chunk_size


def _read_features(options: Mapping[str, Any]) -> FeatureConfig:
    dataset = _section(options, "dataset_conf")
    collate = _section(options, "collate_conf")
    kind = dataset.get("feats_type", "fbank")
    if kind != "fbank":
        raise ConfigError(f"dataset_conf.feats_type: {kind} is not supported (fbank is)")
    fbank = dataset.get("fbank_conf") or collate.get("feature_extraction_conf") or {}
    bins = fbank.get("num_mel_bins", fbank.get("mel_bins", options.get("input_dim", 80)))
    rate = _section(dataset, "resample_conf").get("resample_rate", 16_000)
    return FeatureConfig(
        sample_rate_hz=rate,
        num_mel_bins=bins,
        frame_length_ms=float(fbank.get("frame_length", 25)),
        frame_shift_ms=float(fbank.get("frame_shift", 10)),
    )


def _read_encoder(options: Mapping[str, Any], input_dim: int) -> EncoderConfig:
    kind = options.get("encoder", "conformer")
    if kind not in ("conformer", "transformer"):
        raise ConfigError(f"encoder: {kind} is not supported (conformer and transformer are)")
    section = _section(options, "encoder_conf")
    _check_keys("encoder_conf", section, ENCODER_KEYS | RENAMED_ENCODER_KEYS)
    is_conformer = kind == "conformer"
    values = ENCODER_DEFAULTS | {"norm_eps": _norm_eps(options)}
    values |= {key: section[key] for key in ENCODER_KEYS if key in section}
    return EncoderConfig(
        kind=cast(EncoderKind, kind),
        input_dim=input_dim,
        input_layer=cast(InputLayer, section.get("input_layer", "conv2d")),
        positions=section.get("pos_enc_layer_type", "rel_pos" if is_conformer else "abs_pos"),
        activation=section.get("activation_type", "swish" if is_conformer else "relu"),
        **values,
    )


def _read_decoder(options: Mapping[str, Any]) -> DecoderConfig:
    kind = options.get("decoder", "bitransformer")
    if kind not in ("transformer", "bitransformer"):
        raise ConfigError(f"decoder: {kind} is not supported (transformer, bitransformer are)")
    section = dict(_section(options, "decoder_conf"))
    _check_keys("decoder_conf", section, DECODER_KEYS | {"input_layer", "activation_type"})
    for key, only in (("input_layer", "embed"), ("activation_type", "relu")):
        if section.pop(key, only) != only:
            raise ConfigError(f"decoder_conf.{key}: only {only} is supported")
    values = DECODER_DEFAULTS | {"norm_eps": _norm_eps(options)}
    values |= {key: section[key] for key in DECODER_KEYS if key in section}
    return DecoderConfig(kind=cast(DecoderKind, kind), **values)


def _norm_eps(options: Mapping[str, Any]) -> float:
    """LayerNorm's epsilon where train.yaml has none; `collate_conf` is era 1's."""
    return ERA_1_NORM_EPS if "collate_conf" in options else 1e-5


def _check_keys(name: str, section: Mapping[str, Any], known: set[str]) -> None:
    unknown = section.keys() - known - TRAINING_KEYS - ONLY_VALUES.keys()
    if unknown:
        raise ConfigError(f"{name} has keys we do not know: {', '.join(sorted(map(str, unknown)))}")
    for key, values in ONLY_VALUES.items():
        if key in section and section[key] not in values:
            raise ConfigError(f"{name}.{key}: {section[key]} is not supported ({values[0]} is)")


def _section(options: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = options.get(name) or {}
    if not isinstance(section, Mapping):
        raise ConfigError(f"{name} is not a mapping")
    return section
