"""The config.json of a Parakeet or Nemotron, as transformers writes it, as our configuration.

Every key that would change what a trained network puts out is read, or must have the one value
that we implement. Source: transformers 5.24, its configuration and modelling files of the models
parakeet, nemotron_asr_streaming and nemotron3_5_asr.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from earshot.models.checkpoints.hugging_face_folder import read_json
from earshot.models.checkpoints.nemo.hugging_face_features import (
    HuggingFaceFeatures,
    read_features,
    read_processor,
)
from earshot.models.checkpoints.nemo.stated_keys import StatedKeys
from earshot.models.config import FeatureConfig
from earshot.models.errors import CheckpointError, quote
from earshot.models.fastconformer.config import (
    AttentionContext,
    FastConformerConfig,
    FastConformerModelConfig,
    PromptConfig,
)
from earshot.models.transducer.config import JointActivation, TransducerConfig


@dataclass(frozen=True)
class ModelKind:
    """A model_type. blank: the key of its blank's unit. extractor: of its features."""

    blank: str = "blank_token_id"
    extractor: str = "ParakeetFeatureExtractor"
    streams: bool = False
    ctc: bool = False
    durations: bool = False
    prompt: bool = False


STREAMING = "NemotronAsrStreamingFeatureExtractor"
KINDS = {
    "parakeet_ctc": ModelKind(blank="pad_token_id", ctc=True),
    "parakeet_rnnt": ModelKind(),
    "parakeet_tdt": ModelKind(durations=True),
    "nemotron_asr_streaming": ModelKind(extractor=STREAMING, streams=True),
    "nemotron3_5_asr": ModelKind(extractor=STREAMING, streams=True, prompt=True),
}
"""By model_type."""
ACTIVATIONS: dict[str, JointActivation] = {"relu": "relu", "sigmoid": "sigmoid", "tanh": "tanh"}
ENCODER_VALUES: dict[str, object] = {
    "hidden_act": "silu",
    "subsampling_conv_kernel_size": 3,
    "subsampling_conv_stride": 2,
}
LOOKAHEADS = "supported_num_lookahead_tokens"
LOOKAHEAD = "default_num_lookahead_tokens"


@dataclass(frozen=True)
class HuggingFaceConfig:
    """A model's parts, and how the features that it takes are made."""

    model: FastConformerModelConfig
    features: HuggingFaceFeatures


def read_config(folder: Path) -> HuggingFaceConfig:
    """The configuration of a folder.

    Raises CheckpointError for files that are no mappings and for a model_type of another family,
    ConfigError for a key that is missing, or has a value that we do not implement.
    """
    path = folder / "config.json"
    content = read_json(path)
    kind = _kind(content.get("model_type"), path)
    keys = StatedKeys(content, str(path))
    keys.require({"quantization_config": None})
    labels = _labels(keys, kind)
    processor = read_processor(folder)
    stated = keys.section("encoder_config")
    bins = stated.number("num_mel_bins")
    features = read_features(processor, bins, kind.extractor)
    encoder = _encoder(stated, kind, features, processor)
    model = FastConformerModelConfig(
        vocab_size=labels,
        encoder=encoder,
        features=FeatureConfig(kind="nemo", num_mel_bins=bins),
        transducer=None if kind.ctc else _transducer(keys, kind, labels, encoder.size),
        has_ctc=kind.ctc,
        prompt=_prompt(keys, processor) if kind.prompt else None,
    )
    return HuggingFaceConfig(model, features)


def _kind(model_type: object, path: Path) -> ModelKind:
    if not isinstance(model_type, str) or model_type not in KINDS:
        known = ", ".join(KINDS)
        raise CheckpointError(f"{path} has model_type {quote(model_type)}, none of {known}")
    return KINDS[model_type]


def _labels(keys: StatedKeys, kind: ModelKind) -> int:
    """V: `vocab_size` counts the blank, which must come last."""
    labels = keys.number("vocab_size") - 1
    if keys.number(kind.blank) != labels:
        raise keys.refuse(kind.blank, f"{labels}, the last of vocab_size")
    return labels


def _encoder(
    keys: StatedKeys,
    kind: ModelKind,
    features: HuggingFaceFeatures,
    processor: StatedKeys | None,
) -> FastConformerConfig:
    size, heads = keys.number("hidden_size"), keys.number("num_attention_heads")
    bias = keys.flag("attention_bias", True)
    keys.require(ENCODER_VALUES | {"convolution_bias": bias, "num_key_value_heads": heads})
    if heads > 0:
        keys.require({"head_dim": size // heads})
    return FastConformerConfig(
        features_size=keys.number("num_mel_bins"),
        size=size,
        layers=keys.number("num_hidden_layers"),
        heads=heads,
        feed_forward_size=keys.number("intermediate_size"),
        stem_channels=keys.number("subsampling_conv_channels"),
        subsampling_factor=keys.number("subsampling_factor"),
        causal_stem=kind.streams,
        kernel=keys.number("conv_kernel_size"),
        conv_norm="layer_norm" if kind.streams else "batch_norm",
        causal_convolution=kind.streams,
        use_bias=bias,
        scale_input=keys.flag("scale_input", True),
        normalise=features.normalise,
        contexts=_contexts(keys, processor) if kind.streams else (AttentionContext(),),
        context_style="chunked_limited" if kind.streams else "regular",
    )


def _contexts(encoder: StatedKeys, processor: StatedKeys | None) -> tuple[AttentionContext, ...]:
    """The default first, then what else the processor says that the model was trained with."""
    window = encoder.number("sliding_window")
    if window < 1:
        raise encoder.refuse("sliding_window", "a frame and those left of it")
    rights = [encoder.number(LOOKAHEAD)]
    if processor is not None:
        rights = [processor.number(LOOKAHEAD, rights[0])]
        rights += processor.numbers(LOOKAHEADS) if LOOKAHEADS in processor else ()
    return tuple(AttentionContext(window - 1, right) for right in dict.fromkeys(rights))


def _transducer(keys: StatedKeys, kind: ModelKind, labels: int, heard: int) -> TransducerConfig:
    activation = ACTIVATIONS.get(keys.word("hidden_act", "relu"))
    if activation is None:
        raise keys.refuse("hidden_act", f"one of {', '.join(ACTIVATIONS)}")
    size = keys.number("decoder_hidden_size")
    return TransducerConfig(
        vocab_size=labels,
        encoder_size=heard,
        predictor_size=size,
        joint_size=size,
        predictor_layers=keys.number("num_decoder_layers"),
        activation=activation,
        durations=keys.numbers("durations") if kind.durations else (),
        max_symbols=keys.number("max_symbols_per_step", 10),
    )


def _prompt(keys: StatedKeys, processor: StatedKeys | None) -> PromptConfig:
    """Languages of the processor; "auto", the default, is there without one too."""
    languages = {"auto": keys.number("default_prompt_id")}
    if processor is not None:
        languages |= processor.numbers_by_name("prompt_dictionary")
    size = keys.number("num_prompts")
    return PromptConfig(size, keys.number("prompt_intermediate_size"), languages)
