"""The config.json of a Parakeet or Nemotron, as transformers writes it, as our configuration.

Every key of those models that would change what a trained network puts out is read, or must have
the one value that we implement; keys that they do not know are not looked at, as they are not
there. Source: transformers 5.24, its configuration and modelling files of the models
parakeet, nemotron_asr_streaming and nemotron3_5_asr.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from earshot.models.checkpoints.nemo.hugging_face_features import (
    HuggingFaceFeatures,
    read_features,
)
from earshot.models.checkpoints.nemo.section import Section
from earshot.models.config import FeatureConfig
from earshot.models.errors import CheckpointError, quote
from earshot.models.fastconformer.config import (
    AttentionContext,
    FastConformerConfig,
    FastConformerModelConfig,
    PromptConfig,
)
from earshot.models.transducer_config import JointActivation, TransducerConfig


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
ACTIVATIONS: dict[str, JointActivation] = {name: name for name in get_args(JointActivation)}
ENCODER_VALUES: dict[str, tuple[Any, ...]] = {
    "hidden_act": ("silu",),
    "subsampling_conv_kernel_size": (3,),
    "subsampling_conv_stride": (2,),
}
"""Keys of which we implement one value, which transformers assumes where there is none."""
LOOKAHEADS = "supported_num_lookahead_tokens"
LOOKAHEAD = "default_num_lookahead_tokens"
ENCODER_FIELDS = {
    "features_size": "num_mel_bins",
    "size": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "feed_forward_size": "intermediate_size",
    "stem_channels": "subsampling_conv_channels",
    "subsampling_factor": "subsampling_factor",
    "kernel": "conv_kernel_size",
    "contexts": "sliding_window",
    "left": "sliding_window",
    "right": LOOKAHEAD,
}
MODEL_FIELDS = {
    "vocab_size": "vocab_size",
    "num_mel_bins": "encoder_config.num_mel_bins",
    "predictor_size": "decoder_hidden_size",
    "predictor_layers": "num_decoder_layers",
    "max_symbols": "max_symbols_per_step",
    "hidden_size": "prompt_intermediate_size",
    "size": "num_prompts",
}
"""Keys by the fields of ours that their values become: of the encoder, and of all others."""


@dataclass(frozen=True)
class HuggingFaceConfig:
    """A model's parts, and how the features that it takes are made."""

    model: FastConformerModelConfig
    features: HuggingFaceFeatures


def read_config(
    content: Mapping[str, Any],
    processor: Mapping[str, Any],
    processor_file: str = "processor_config.json",
) -> HuggingFaceConfig:
    """The configuration of a config.json and of the processor's file, empty where there is none.

    processor_file: the name of the latter, for errors.

    Raises CheckpointError for a model_type of another family, ConfigError for a key that is
    missing, or has a value that we do not implement.
    """
    kind = _kind(content.get("model_type"))
    model, tools = Section("config.json", content), Section(processor_file, processor)
    model.require_only({"quantization_config": (None,)})
    labels = _labels(model, kind)
    stated = model.inside("encoder_config")
    bins = stated.whole("num_mel_bins")
    features = read_features(tools, bins, kind.extractor)
    with stated.named(ENCODER_FIELDS):
        encoder = _encoder(stated, kind, features, tools)
    with model.named(MODEL_FIELDS):
        parts = FastConformerModelConfig(
            vocab_size=labels,
            encoder=encoder,
            features=FeatureConfig(kind="nemo", num_mel_bins=bins),
            transducer=None if kind.ctc else _transducer(model, kind, labels, encoder.size),
            has_ctc=kind.ctc,
            prompt=_prompt(model, tools) if kind.prompt else None,
        )
    return HuggingFaceConfig(parts, features)


def _kind(model_type: object) -> ModelKind:
    if not isinstance(model_type, str) or model_type not in KINDS:
        known = ", ".join(KINDS)
        raise CheckpointError(f"config.json has model_type {quote(model_type)}, none of {known}")
    return KINDS[model_type]


def _labels(model: Section, kind: ModelKind) -> int:
    """V: `vocab_size` counts the blank, which must come last."""
    labels = model.whole("vocab_size") - 1
    if (blank := model.whole(kind.blank)) != labels:
        raise model.wrong(kind.blank, f"is {blank}, not {labels}, the last of vocab_size")
    return labels


def _encoder(
    stated: Section, kind: ModelKind, features: HuggingFaceFeatures, processor: Section
) -> FastConformerConfig:
    bias = stated.flag("attention_bias", True)
    _check_fixed(stated, bias)
    return FastConformerConfig(
        features_size=stated.whole("num_mel_bins"),
        size=stated.whole("hidden_size"),
        layers=stated.whole("num_hidden_layers"),
        heads=stated.whole("num_attention_heads"),
        feed_forward_size=stated.whole("intermediate_size"),
        stem_channels=stated.whole("subsampling_conv_channels"),
        subsampling_factor=stated.whole("subsampling_factor"),
        causal_stem=kind.streams,
        kernel=stated.whole("conv_kernel_size"),
        conv_norm="layer_norm" if kind.streams else "batch_norm",
        causal_convolution=kind.streams,
        use_bias=bias,
        scale_input=stated.flag("scale_input", True),
        normalise=features.normalise,
        contexts=_contexts(stated, processor) if kind.streams else (AttentionContext(),),
        context_style="chunked_limited" if kind.streams else "regular",
    )


def _check_fixed(stated: Section, bias: bool) -> None:
    """Keys that follow from others, or have one value; all may be missing."""
    heads = stated.whole("num_attention_heads")
    stated.require_only(ENCODER_VALUES)
    stated.require_only({"convolution_bias": (bias,), "num_key_value_heads": (heads,)})
    if heads > 0:
        stated.require_only({"head_dim": (stated.whole("hidden_size") // heads,)})


def _contexts(stated: Section, processor: Section) -> tuple[AttentionContext, ...]:
    """The default first, then what else the processor says that the model was trained with."""
    window = stated.whole("sliding_window")
    if window < 1:
        raise stated.wrong("sliding_window", f"is {window}, and counts the frame itself")
    rights = [processor.whole(LOOKAHEAD, stated.whole(LOOKAHEAD))]
    for right in processor.items(LOOKAHEADS):
        if type(right) is not int or right < 0:
            raise processor.wrong(LOOKAHEADS, f"has {quote(right)}, which is no number of frames")
        rights.append(right)
    return tuple(AttentionContext(window - 1, right) for right in dict.fromkeys(rights))


def _transducer(model: Section, kind: ModelKind, labels: int, heard: int) -> TransducerConfig:
    size = model.whole("decoder_hidden_size")
    return TransducerConfig(
        vocab_size=labels,
        encoder_size=heard,
        predictor_size=size,
        joint_size=size,
        predictor_layers=model.whole("num_decoder_layers"),
        activation=ACTIVATIONS[model.choice("hidden_act", "relu", tuple(ACTIVATIONS))],
        durations=_durations(model) if kind.durations else (),
        max_symbols=model.whole("max_symbols_per_step", 10),
    )


def _durations(model: Section) -> tuple[Any, ...]:
    durations = tuple(model.items("durations"))
    if not durations:
        raise model.wrong("durations", "is empty, and a TDT needs some")
    return durations


def _prompt(model: Section, processor: Section) -> PromptConfig:
    """Languages of the processor; "auto", the default, is there without one too."""
    languages = {"auto": model.whole("default_prompt_id")}
    languages |= processor.inside("prompt_dictionary").values
    size = model.whole("num_prompts")
    return PromptConfig(size, model.whole("prompt_intermediate_size"), languages)
