"""NeMo's `encoder` as our configuration.

Source: the constructor of nemo_toolkit 3.0.0, whose defaults stand here. Every key that would
change what comes out is one we implement, or has the one value that we do.
"""

from __future__ import annotations

from typing import Any

from earshot.models.checkpoints.nemo.features_config import is_normalised
from earshot.models.checkpoints.nemo.section import Section
from earshot.models.errors import quote
from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig

ENCODER_VALUES: dict[str, tuple[Any, ...]] = {
    "self_attention_model": ("rel_pos",),
    "att_chunk_context_size": (None,),
    "conv_context_style": ("regular",),
    "conv_dual_mode": (False, None),
    "global_tokens": (0,),
    "global_attn_separate": (False,),
}
ENCODER_KEYS = {
    "_target_",
    "feat_in",
    "feat_out",
    "n_layers",
    "d_model",
    "causal_downsampling",
    "subsampling",
    "subsampling_factor",
    "subsampling_conv_channels",
    "reduction",
    "reduction_factor",
    "ff_expansion_factor",
    "n_heads",
    "att_context_size",
    "att_context_style",
    "xscaling",
    "untie_biases",
    "conv_kernel_size",
    "conv_norm_type",
    "conv_context_size",
    "use_bias",
}
ENCODER_FIELDS = {
    "features_size": "feat_in",
    "size": "d_model",
    "layers": "n_layers",
    "heads": "n_heads",
    "feed_forward_size": "ff_expansion_factor",
    "stem_channels": "subsampling_conv_channels",
    "subsampling_factor": "subsampling_factor",
    "kernel": "conv_kernel_size",
    "contexts": "att_context_size",
    "left": "att_context_size",
    "right": "att_context_size",
}
"""Keys by the fields of ours, and of a context, that their values become."""
# Training, memory, and how rather than what is computed.
IGNORED_ENCODER_KEYS = {
    "subsampling_conv_chunking_factor",
    "reduction_position",
    "att_context_probs",
    "pos_emb_max_len",
    "dropout",
    "dropout_pre_encoder",
    "dropout_emb",
    "dropout_att",
    "stochastic_depth_drop_prob",
    "stochastic_depth_mode",
    "stochastic_depth_start_layer",
    "global_tokens_spacing",
    "use_pytorch_sdpa",
    "use_pytorch_sdpa_backends",
    "sync_max_audio_length",
}


def read_encoder(encoder: Section, preprocessor: Section) -> FastConformerConfig:
    """The encoder behind a preprocessor. Raises ConfigError for what we do not implement."""
    encoder.require_target("ConformerEncoder")
    encoder.require_known(ENCODER_KEYS, IGNORED_ENCODER_KEYS, set(ENCODER_VALUES))
    encoder.require_only(ENCODER_VALUES)
    size, kernel = encoder.whole("d_model"), encoder.whole("conv_kernel_size", 31)
    _require_no_change_of_frames(encoder, size)
    channels = encoder.whole("subsampling_conv_channels", -1)
    style = encoder.choice("att_context_style", "regular", ("regular", "chunked_limited"))
    subsampling = encoder.choice("subsampling", "striding", ("dw_striding", "striding"))
    norm = encoder.choice("conv_norm_type", "batch_norm", ("batch_norm", "layer_norm"))
    return FastConformerConfig(
        features_size=encoder.whole("feat_in"),
        size=size,
        layers=encoder.whole("n_layers"),
        heads=encoder.whole("n_heads", 4),
        feed_forward_size=size * encoder.whole("ff_expansion_factor", 4),
        stem_channels=size if channels == -1 else channels,
        subsampling=subsampling,  # type: ignore[arg-type]
        subsampling_factor=encoder.whole("subsampling_factor", 4),
        causal_stem=encoder.flag("causal_downsampling", False),
        kernel=kernel,
        conv_norm=norm,  # type: ignore[arg-type]
        causal_convolution=_is_causal(encoder, kernel),
        use_bias=encoder.flag("use_bias", True),
        shared_positions=not encoder.flag("untie_biases", True),
        scale_input=encoder.flag("xscaling", True),
        normalise="per_feature" if is_normalised(preprocessor) else "none",
        contexts=_contexts(encoder),
        context_style=style,  # type: ignore[arg-type]
    )


def _require_no_change_of_frames(encoder: Section, size: int) -> None:
    if encoder.values.get("reduction") and encoder.whole("reduction_factor", 1) > 1:
        raise encoder.wrong("reduction", "is not supported")
    out = encoder.whole("feat_out", -1)
    if out > 0 and out != size:
        raise encoder.wrong("feat_out", f"is {out}, which is not supported (d_model, {size})")


def _is_causal(encoder: Section, kernel: int) -> bool:
    named = encoder.values.get("conv_context_size")
    side = (kernel - 1) // 2
    if named is None or named == [side, side]:
        return False
    if named in ("causal", [kernel - 1, 0]):
        return True
    raise encoder.wrong(
        "conv_context_size", f"is {quote(named)}, neither causal nor as wide on both sides"
    )


def _contexts(encoder: Section) -> tuple[AttentionContext, ...]:
    """All pairs of [left, right]; NeMo has one pair alone without a list around it."""
    named = encoder.items("att_context_size") or [-1, -1]
    pairs = named if isinstance(named[0], list) else [named]
    for pair in pairs:
        if not isinstance(pair, list) or [type(frames) for frames in pair] != [int, int]:
            reason = f"has {quote(pair)}, which is no [left, right] of frames"
            raise encoder.wrong("att_context_size", reason)
    return tuple(AttentionContext(*pair) for pair in pairs)
