"""The parts of a NeMo encoder, and of a model with one: frozen, checked once.

Source: Rekesh 2023 (FastConformer), Gulati 2020 (Conformer), Noroozi 2024 (cache-aware streaming).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from earshot.models.config import ConvNorm, FeatureConfig
from earshot.models.config_checks import (
    require,
    require_choice,
    require_field,
    require_range,
)
from earshot.models.config_limits import MAX_BLOCKS, MAX_DIMENSION, MAX_VOCABULARY
from earshot.models.errors import FieldError, quote
from earshot.models.transducer_config import TransducerConfig

Subsampling = Literal["dw_striding", "striding"]
ContextStyle = Literal["regular", "chunked_limited"]
Normalisation = Literal["none", "per_feature"]

MAX_CONTEXT_FRAMES = 100_000
MAX_PROMPTS = 4_096


@dataclass(frozen=True)
class AttentionContext:
    """Encoder frames that a frame sees on its left and right; -1: all there are."""

    left: int = -1
    right: int = -1

    def __post_init__(self) -> None:
        require_range(self, "left right", -1, MAX_CONTEXT_FRAMES)


@dataclass(frozen=True)
class FastConformerConfig:
    """A stem that subsamples time, then N conformer layers with Transformer-XL's positions.

    features_size: F. size: D. stem_channels: of its convolutions. subsampling: "dw_striding", a
    full convolution and then separable ones, or "striding", full ones. causal_stem,
    causal_convolution: nothing is heard from the right. kernel: of the depthwise convolutions.
    use_bias: of the layers' linear and pointwise maps. shared_positions: one pair of position
    biases for all layers. scale_input: times the root of D after the stem. normalise: of features
    over the utterance. contexts: those trained, the first by default; with style
    "chunked_limited" frames of a chunk of `right + 1` see each other and `left` before it.
    """

    features_size: int
    size: int
    layers: int
    heads: int
    feed_forward_size: int
    stem_channels: int
    subsampling: Subsampling = "dw_striding"
    subsampling_factor: int = 8
    causal_stem: bool = False
    kernel: int = 9
    conv_norm: ConvNorm = "batch_norm"
    causal_convolution: bool = False
    use_bias: bool = True
    shared_positions: bool = False
    scale_input: bool = True
    normalise: Normalisation = "per_feature"
    contexts: tuple[AttentionContext, ...] = (AttentionContext(),)
    context_style: ContextStyle = "regular"

    def __post_init__(self) -> None:
        require_choice(self, "subsampling", Subsampling)
        require_choice(self, "conv_norm", ConvNorm)
        require_choice(self, "normalise", Normalisation)
        require_choice(self, "context_style", ContextStyle)
        require_range(self, "features_size size feed_forward_size stem_channels", 1, MAX_DIMENSION)
        require_range(self, "layers", 1, MAX_BLOCKS)
        require_range(self, "heads", 1, MAX_DIMENSION)
        require_range(self, "kernel", 1, 255)
        self._require_shapes()
        require(len(self.contexts) > 0, "there is no attention context")
        for context in self.contexts:
            self._require_context(context)

    def _require_shapes(self) -> None:
        halves = self.subsampling_factor in (2, 4, 8, 16)
        require_field(self, "subsampling_factor", halves, "is not 2, 4, 8 or 16")
        split = self.size % self.heads == 0
        require_field(self, "size", split, f"is no multiple of {self.heads} heads")
        require_field(self, "size", self.size % 2 == 0, "is not even")
        centred = self.causal_convolution or self.kernel % 2 == 1
        require_field(self, "kernel", centred, "is even, where a convolution is not causal")

    def _require_context(self, context: AttentionContext) -> None:
        if self.context_style == "regular":
            return
        pair, chunk = [context.left, context.right], context.right + 1
        if chunk < 1:
            raise FieldError("contexts", pair, "has no right context of a number of frames")
        if context.left >= 0 and context.left % chunk:
            reason = f"has a left context of {context.left}, no multiple of chunks of {chunk}"
            raise FieldError("contexts", pair, reason)

    @property
    def stem_stages(self) -> int:
        """Convolutions of stride 2."""
        return self.subsampling_factor.bit_length() - 1


@dataclass(frozen=True)
class PromptConfig:
    """The language that the heads are told: a one-hot of `size` beside each frame.

    hidden_size: of the network that mixes both. languages: the place of each in the one-hot.
    """

    size: int
    hidden_size: int
    languages: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_range(self, "size", 1, MAX_PROMPTS)
        require_range(self, "hidden_size", 1, MAX_DIMENSION)
        for language, place in self.languages.items():
            good = type(place) is int and 0 <= place < self.size
            require(
                good,
                f"the prompt of {quote(language)} is {quote(place)}, not within 0..{self.size - 1}",
            )


@dataclass(frozen=True)
class FastConformerModelConfig:
    """An encoder and its heads over the same V labels: a transducer, CTC, or both (a hybrid).

    vocab_size: V; the blank of either head is unit V.
    """

    vocab_size: int
    encoder: FastConformerConfig
    features: FeatureConfig = field(default_factory=lambda: FeatureConfig(kind="nemo"))
    transducer: TransducerConfig | None = None
    has_ctc: bool = False
    prompt: PromptConfig | None = None

    def __post_init__(self) -> None:
        require_range(self, "vocab_size", 1, MAX_VOCABULARY)
        require(self.transducer is not None or self.has_ctc, "the model has no head")
        require(
            self.features.num_mel_bins == self.encoder.features_size,
            f"features give {self.features.num_mel_bins} bins, "
            f"the encoder takes {self.encoder.features_size}",
        )
        if self.transducer is not None:
            self._require_fit(self.transducer)

    def _require_fit(self, head: TransducerConfig) -> None:
        require(head.vocab_size == self.vocab_size, "the transducer has another vocabulary")
        require(head.encoder_size == self.encoder.size, "the transducer hears frames of other size")
