"""What a model is made of: frozen, checked once, written to and read from JSON.

Field names follow WeNet's train.yaml where it has the thing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, TypeVar, get_type_hints

from earshot.models.config_checks import (
    require,
    require_choice,
    require_number,
    require_optional,
    require_range,
)
from earshot.models.config_limits import MAX_BLOCKS, MAX_DIMENSION, MAX_VOCABULARY
from earshot.models.errors import ConfigError, quote
from earshot.models.transducer_config import TransducerConfig
from earshot.models.whisper_decoder_config import WhisperDecoderConfig

EncoderKind = Literal["conformer", "transformer"]
DecoderKind = Literal["transformer", "bitransformer"]
InputLayer = Literal["conv2d", "conv2d6", "conv2d8", "conv1d4", "conv1d6", "conv1d8", "whisper"]
Positions = Literal["rel_pos", "abs_pos", "whisper", "no_pos"]
FeatureKind = Literal["kaldi", "whisper", "nemo"]
Activation = Literal["swish", "relu", "gelu"]
ConvNorm = Literal["layer_norm", "batch_norm"]

MAX_PHONES = 1_000
PHONE_BLANK = 0
"""The phone head's blank; its phones follow."""

MAX_LM_WEIGHT = 10.0
MIN_BEAM, MAX_BEAM = 1.0, 100.0
"""Of graph search, whoever asks."""

Section = TypeVar("Section")


@dataclass(frozen=True)
class FeatureConfig:
    """Log-mel features: Kaldi's, or Whisper's or NeMo's, whose rate and frames are fixed."""

    sample_rate_hz: int = 16_000
    num_mel_bins: int = 80
    frame_length_ms: float = 25.0
    frame_shift_ms: float = 10.0
    kind: FeatureKind = "kaldi"

    def __post_init__(self) -> None:
        require_choice(self, "kind", FeatureKind)
        require_range(self, "sample_rate_hz", 4_000, 192_000)
        require_range(self, "num_mel_bins", 1, 512)
        require_range(self, "frame_length_ms frame_shift_ms", 1.0, 1_000.0)
        frames = (self.sample_rate_hz, self.frame_length_ms, self.frame_shift_ms)
        require(
            self.kind == "kaldi" or frames == (16_000, 25.0, 10.0),
            f"{self.kind} features are of 16000 Hz, frames of 25 ms and a shift of 10 ms",
        )


@dataclass(frozen=True)
class EncoderConfig:
    """U2 encoder: a stem that subsamples time, then conformer or transformer blocks.

    The conv2d stems are WeNet's. The conv1d ones are ours: a tenth of the work, the same rate,
    length formula and right context as the conv2d stem of that rate. `block_norm=False` leaves
    out the LayerNorm that closes every conformer block (not in WeNet). The stem and the positions
    named whisper are Whisper's (Radford 2022, section 2.2), whose blocks are kind "transformer".

    `pool_after_block`: after so many blocks two frames become their mean, and what follows runs at
    half the rate: 0 right after the stem, `num_blocks` before the closing norm, None nowhere. The
    frames put out, and the chunks that count them, are those after it. `narrow`: width of a linear
    layer after the closing norm, None without one (neither is in WeNet or Whisper).
    """

    kind: EncoderKind = "conformer"
    input_dim: int = 80
    output_size: int = 256
    attention_heads: int = 4
    linear_units: int = 2048
    num_blocks: int = 12
    input_layer: InputLayer = "conv2d"
    positions: Positions = "rel_pos"
    activation: Activation = "swish"
    causal: bool = True
    use_cnn_module: bool = True
    cnn_module_kernel: int = 15
    cnn_module_norm: ConvNorm = "layer_norm"
    macaron_style: bool = True
    block_norm: bool = True
    use_dynamic_chunk: bool = True
    static_chunk_size: int = 0
    norm_eps: float = 1e-5
    conv_norm_eps: float = 1e-5
    dropout_rate: float = 0.1
    positional_dropout_rate: float = 0.1
    attention_dropout_rate: float = 0.0
    pool_after_block: int | None = None
    narrow: int | None = None

    def __post_init__(self) -> None:
        require_choice(self, "kind", EncoderKind)
        require_choice(self, "input_layer", InputLayer)
        require_choice(self, "positions", Positions)
        require_choice(self, "activation", Activation)
        require_choice(self, "cnn_module_norm", ConvNorm)
        require_range(self, "input_dim output_size attention_heads linear_units", 1, MAX_DIMENSION)
        require_range(self, "num_blocks", 1, MAX_BLOCKS)
        require_range(self, "cnn_module_kernel", 1, 255)
        require_range(self, "static_chunk_size", 0, 4_096)
        require_range(self, "norm_eps conv_norm_eps", 0.0, 1.0)
        require_range(
            self, "dropout_rate positional_dropout_rate attention_dropout_rate", 0.0, 0.99
        )
        require(
            self.output_size % self.attention_heads == 0,
            f"output_size={self.output_size} is not a multiple of "
            f"attention_heads={self.attention_heads}",
        )
        require(self.output_size % 2 == 0, "output_size must be even")
        require(
            self.kind == "conformer" or self.positions != "rel_pos",
            "a transformer encoder has no rel_pos attention",
        )
        require(
            self.causal or not self.has_convolution or self.cnn_module_kernel % 2 == 1,
            "a non-causal convolution needs an odd kernel",
        )
        self._require_whispers_parts()

    def _require_whispers_parts(self) -> None:
        require_optional(self, "pool_after_block", 0, self.num_blocks)
        require_optional(self, "narrow", 2, MAX_DIMENSION)
        require(self.narrow is None or self.narrow % 2 == 0, "narrow must be even")
        # Streams have one cache for what convolutions remember (models/u2/lanes.py).
        plain = self.input_layer != "whisper" and self.pool_after_block is None
        require(
            plain or not self.has_convolution,
            "blocks with a convolution have neither Whisper's stem nor pool_after_block",
        )
        require(
            self.positions != "whisper" or self.output_size >= 4,
            "Whisper's positions need an output_size of 4 or more",
        )

    @property
    def encoded_size(self) -> int:
        """Width of the frames that are put out."""
        return self.output_size if self.narrow is None else self.narrow

    @property
    def has_convolution(self) -> bool:
        """Whether the blocks have a convolution module."""
        return self.kind == "conformer" and self.use_cnn_module

    @property
    def streamable(self) -> bool:
        """Whether the encoder was trained to work chunk by chunk."""
        chunked = self.use_dynamic_chunk or self.static_chunk_size > 0
        return chunked and (self.causal or not self.has_convolution)


@dataclass(frozen=True)
class DecoderConfig:
    """Attention decoder: left-to-right, and for the bitransformer right-to-left as well."""

    kind: DecoderKind = "bitransformer"
    attention_heads: int = 4
    linear_units: int = 2048
    num_blocks: int = 3
    r_num_blocks: int = 3
    norm_eps: float = 1e-5
    dropout_rate: float = 0.1
    positional_dropout_rate: float = 0.1
    self_attention_dropout_rate: float = 0.0
    src_attention_dropout_rate: float = 0.0

    def __post_init__(self) -> None:
        require_choice(self, "kind", DecoderKind)
        require_range(self, "attention_heads linear_units", 1, MAX_DIMENSION)
        require_range(self, "num_blocks", 1, MAX_BLOCKS)
        require_range(self, "r_num_blocks", int(self.bidirectional), MAX_BLOCKS)
        require_range(self, "norm_eps", 0.0, 1.0)
        require_range(self, "dropout_rate positional_dropout_rate", 0.0, 0.99)
        require_range(self, "self_attention_dropout_rate src_attention_dropout_rate", 0.0, 0.99)

    @property
    def bidirectional(self) -> bool:
        """Whether there is a right-to-left decoder as well."""
        return self.kind == "bitransformer"


def _require_chunk(name: str, size: object) -> None:
    require(
        type(size) is int and (size == -1 or 1 <= size <= 4_096),
        f"{name}={quote(size)} is neither -1 nor within 1..4096",
    )


@dataclass(frozen=True)
class DecodingConfig:
    """What the model's makers recommend for decoding; a request may ask for something else.

    `chunk_size` and `num_left_chunks` count encoder frames and chunks; -1 means all there is.
    `chunk_sizes`: others that the model was trained for, from which requests may choose.
    `lm_weight` and `graph_beam` are for the graph that the model comes with: what multiplies its
    costs, and how much more than the best a hypothesis may cost (in nats). `neural_lm_weight`
    multiplies what a neural language model says beside it. `lead_in_ms` of digital silence come
    before a recording, and after it where `flush_with_silence`, else what repeats its quietest
    frame: a word that is cut close gets room for its sounds, if the model was trained to hear it.
    """

    chunk_size: int = 16
    num_left_chunks: int = -1
    chunk_sizes: tuple[int, ...] = ()
    ctc_weight: float = 0.5
    reverse_weight: float = 0.0
    lm_weight: float = 0.3
    graph_beam: float = 10.0
    neural_lm_weight: float = 0.5
    lead_in_ms: int = 0
    flush_with_silence: bool = False

    def __post_init__(self) -> None:
        require_range(self, "lm_weight neural_lm_weight", 0.0, MAX_LM_WEIGHT)
        require_range(self, "graph_beam", MIN_BEAM, MAX_BEAM)
        _require_chunk("chunk_size", self.chunk_size)
        require(isinstance(self.chunk_sizes, tuple | list), "chunk_sizes is not a list")
        for size in self.chunk_sizes:
            _require_chunk("chunk_sizes", size)
        object.__setattr__(self, "chunk_sizes", tuple(self.chunk_sizes))
        require_range(self, "num_left_chunks", -1, 4_096)
        require(
            type(self.lead_in_ms) is int and 0 <= self.lead_in_ms <= 1_000,
            f"lead_in_ms={quote(self.lead_in_ms)} is not within 0..1000",
        )
        require(
            type(self.flush_with_silence) is bool,
            f"flush_with_silence={quote(self.flush_with_silence)} is not true or false",
        )
        require_range(self, "ctc_weight", 0.0, 1e3)
        require_range(self, "reverse_weight", 0.0, 1.0)


@dataclass(frozen=True)
class LossConfig:
    """Joint CTC/attention training loss (Yao 2021, eq. 1), with U2++'s second decoder (Wu 2021)."""

    ctc_weight: float = 0.3
    reverse_weight: float = 0.3
    label_smoothing: float = 0.1

    def __post_init__(self) -> None:
        require_range(self, "ctc_weight reverse_weight", 0.0, 1.0)
        require_range(self, "label_smoothing", 0.0, 0.99)


def _require_phones(phones: object) -> None:
    good = isinstance(phones, tuple) and all(
        isinstance(phone, str) and phone.isascii() and phone.isalnum() for phone in phones
    )
    require(good, f"phones={quote(phones)} are not names of letters and digits")
    assert isinstance(phones, tuple)
    require(len(phones) <= MAX_PHONES, f"there are {len(phones)} phones, {MAX_PHONES} at most")
    require(len(set(phones)) == len(phones), "a phone is named twice")


@dataclass(frozen=True)
class ModelConfig:
    """One U2/U2++ model. Build it from a mapping with `from_dict`, the inverse of `to_dict`.

    `phones` names the units of a second CTC head, 1 the first of them, 0 its blank; none, no head.
    It puts out `phone_rate` frames for each of the encoder's. `transducer`: a head over the same
    units, by the same ids, whose own blank comes after all of them; None, no head. Unit `blank_id`
    is a label that it never learns.
    """

    vocab_size: int
    blank_id: int = 0
    sos_id: int = 2
    eos_id: int = 2
    features: FeatureConfig = field(default_factory=FeatureConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    decoder: DecoderConfig | WhisperDecoderConfig = field(default_factory=DecoderConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    phones: tuple[str, ...] = ()
    phone_rate: int = 1
    transducer: TransducerConfig | None = None

    def __post_init__(self) -> None:
        require_range(self, "vocab_size", 2, MAX_VOCABULARY)
        _require_phones(self.phones)
        require_range(self, "phone_rate", 1, 16)
        require_range(self, "blank_id sos_id eos_id", 0, self.vocab_size - 1)
        require(
            self.features.num_mel_bins == self.encoder.input_dim,
            f"features give {self.features.num_mel_bins} bins, "
            f"the encoder takes {self.encoder.input_dim}",
        )
        require(
            self.encoder.encoded_size % self.decoder.attention_heads == 0,
            f"the encoder's {self.encoder.encoded_size} are not a multiple of the decoder's "
            f"attention_heads={self.decoder.attention_heads}",
        )
        if isinstance(self.decoder, WhisperDecoderConfig):
            self._require_width(self.decoder.size)
        if self.transducer is not None:
            self._require_head(self.transducer)

    def _require_width(self, size: int) -> None:
        width = self.encoder.encoded_size
        require(width == size, f"a Whisper decoder of {size} cannot hear frames of {width}")

    def _require_head(self, head: TransducerConfig) -> None:
        width = self.encoder.encoded_size
        require(
            head.encoder_size == width,
            f"a transducer of encoder_size={head.encoder_size} cannot hear frames of {width}",
        )
        require(
            head.vocab_size == self.vocab_size,
            f"a transducer of vocab_size={head.vocab_size} cannot say {self.vocab_size} units",
        )

    def to_dict(self) -> dict[str, Any]:
        """Nested plain values, as JSON can hold them; no transducer is not named."""
        values = asdict(self)
        if self.transducer is None:
            del values["transducer"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelConfig:
        """Raises ConfigError, naming them, for keys that are unknown or values that are wrong."""
        nested = {
            name: read_section(_section_kind(name, values[name]), values[name], name)
            for name in _SECTIONS
            if name in values and not (name == "transducer" and values[name] is None)
        }
        return read_section(cls, {**values, **nested}, "model")


_SECTIONS: dict[str, type[Any]] = {
    "features": FeatureConfig,
    "encoder": EncoderConfig,
    "decoder": DecoderConfig,
    "decoding": DecodingConfig,
    "loss": LossConfig,
    "transducer": TransducerConfig,
}


def _section_kind(name: str, values: object) -> type[Any]:
    kind = values.get("kind") if isinstance(values, Mapping) else None
    if (name, kind) == ("decoder", "whisper"):
        return WhisperDecoderConfig
    return _SECTIONS[name]


def read_section(kind: type[Section], values: object, name: str) -> Section:
    """One of this module's dataclasses from plain values; `name` names it in errors.

    Raises ConfigError for keys that are unknown or missing and values that are wrong.
    """
    require(isinstance(values, Mapping), f"{name} is not a mapping")
    assert isinstance(values, Mapping)
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(str(key) for key in values if key not in known)
    require(not unknown, f"{name} has unknown keys: {', '.join(unknown)}")
    for key, hint in get_type_hints(kind).items():
        if hint in (int, float, bool) and key in values:
            require_number(f"{name}.{key}", values[key], hint)
    read = {key: tuple(each) if isinstance(each, list) else each for key, each in values.items()}
    try:
        return kind(**read)
    except TypeError as error:
        raise ConfigError(f"{name}: {error}") from error
