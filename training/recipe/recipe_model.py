"""The network of a recipe, freshly initialised."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.whisper.checkpoint import read_whisper
from earshot.models.config import (
    DecoderConfig,
    DecodingConfig,
    EncoderConfig,
    FeatureConfig,
    LossConfig,
    ModelConfig,
)
from earshot.models.layers.subsampling import StemShape, encoder_shape
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_decoder_config import WhisperDecoderConfig
from earshot.training.errors import RecipeError
from earshot.training.files.cmudict import phone_names, read_lexicon
from earshot.training.network.grown_model import grown_model
from earshot.training.network.initialisation import InitConfig, initialise
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.student_config import STEM
from earshot.training.recipe.whisper_decoding import (
    EMBEDDING,
    PREFIX,
    Decoding,
    decoding_of,
    take_whisper_decoder,
)
from earshot.training.recipe.whisper_network import (
    start_config,
    take_whisper,
    whisper_config,
)

TOKENS = PREFIX + EMBEDDING


def encoder_config(recipe: Recipe) -> EncoderConfig:
    """The encoder's: a causal conformer of dynamic chunks, Whisper's in chunks, or that of a start.

    Raises ModelError for a Whisper or a model that is missing or broken.
    """
    net = recipe.network
    if recipe.transducer is not None:
        return _beneath(recipe).encoder
    if net.encoder == "whisper":
        assert recipe.start is not None
        return whisper_config(net, recipe.start)
    return EncoderConfig(
        output_size=net.output_size,
        attention_heads=net.attention_heads,
        linear_units=net.linear_units,
        num_blocks=net.num_blocks,
        input_layer=net.input_layer,
        cnn_module_kernel=net.cnn_module_kernel,
        cnn_module_norm=net.conv_norm,
        positions=net.positions,
        block_norm=net.block_norm,
        dropout_rate=net.dropout_rate,
        positional_dropout_rate=net.dropout_rate,
        attention_dropout_rate=net.dropout_rate,
    )


def feature_config(recipe: Recipe) -> FeatureConfig:
    """The features that the encoder hears. Raises ModelError like `encoder_config`.

    RecipeError for a model under a head that hears others than those that are kept on disk.
    """
    if recipe.student is not None:
        return recipe.student.features
    if recipe.transducer is not None:
        features = _beneath(recipe).features
        if recipe.waveform is None and features != FeatureConfig():
            raise RecipeError("transducer: this model hears features of sound, see [waveform]")
        return features
    if recipe.network.encoder != "whisper":
        return FeatureConfig()
    return FeatureConfig(kind="whisper", num_mel_bins=encoder_config(recipe).input_dim)


def time_shape(recipe: Recipe) -> StemShape:
    """Feature frames for each of the encoder's, and how many it looks ahead."""
    if recipe.student is not None:
        return STEM
    return encoder_shape(encoder_config(recipe))


def model_config(recipe: Recipe, vocab_size: int) -> ModelConfig:
    """The whole configuration: what the recipe chooses in a causal, dynamic-chunk U2++."""
    net, phones = recipe.network, recipe.phones
    own_head = phones is not None and phones.block is None
    return ModelConfig(
        vocab_size=vocab_size,
        features=feature_config(recipe),
        encoder=encoder_config(recipe),
        decoder=_decoder_config(recipe),
        decoding=DecodingConfig(
            chunk_size=net.chunk_size,
            chunk_sizes=net.chunk_sizes,
            ctc_weight=net.decoding_ctc_weight,
            reverse_weight=net.decoding_reverse_weight,
            lm_weight=net.decoding_lm_weight,
            graph_beam=net.decoding_graph_beam,
            neural_lm_weight=net.decoding_neural_lm_weight,
            lead_in_ms=net.lead_in_ms,
            flush_with_silence=net.flush_with_silence,
        ),
        loss=LossConfig(
            ctc_weight=recipe.optimiser.ctc_weight,
            reverse_weight=recipe.optimiser.reverse_weight,
            label_smoothing=recipe.optimiser.label_smoothing,
        ),
        phones=phone_names(read_lexicon(phones.lexicon)) if phones and own_head else (),
        phone_rate=phones.rate if phones and own_head else 1,
    )


def recipe_decoding(recipe: Recipe) -> Decoding | None:
    """Whisper's decoder of a recipe that has it. Raises like `decoding_of`."""
    if recipe.network.decoder != "whisper":
        return None
    assert recipe.teacher is not None
    start = recipe.start.model if recipe.start is not None else None
    return decoding_of(recipe.teacher, recipe.network, start)


def _decoder_config(recipe: Recipe) -> DecoderConfig | WhisperDecoderConfig:
    net = recipe.network
    if (decoding := recipe_decoding(recipe)) is not None:
        return replace(decoding.config, window_frames=_window_frames(recipe))
    return DecoderConfig(
        attention_heads=net.attention_heads,
        linear_units=net.decoder_linear_units,
        num_blocks=net.decoder_blocks,
        r_num_blocks=net.decoder_r_blocks,
        dropout_rate=net.dropout_rate,
        positional_dropout_rate=net.dropout_rate,
    )


def _window_frames(recipe: Recipe) -> int:
    """Frames of the windows that Whisper's decoder knows."""
    assert recipe.teacher is not None
    start = None if recipe.start is None else recipe.start.model
    decoder = None if start is None else start_config(start).decoder
    if isinstance(decoder, WhisperDecoderConfig):
        return decoder.window_frames
    whole = encoder_shape(replace(encoder_config(recipe), pool_after_block=None))
    features = read_whisper(recipe.teacher).dims.audio_positions * whole.rate
    return features // time_shape(recipe).rate


def build_model(recipe: Recipe, vocab_size: int, mean: Tensor, istd: Tensor) -> U2Model:
    """The model before its first update; the same recipe gives the same weights.

    It is the one that the recipe starts from, or else a freshly initialised one that normalises by
    `mean` and `istd` `(F,)`; a Whisper's encoder has fresh heads. Raises ModelError if there is no
    model to start from, RecipeError if it is another network.
    """
    if recipe.start is not None:
        return start_model(recipe, vocab_size)
    model = _fresh_model(recipe, vocab_size)
    model.encoder.global_cmvn.mean.copy_(mean)
    model.encoder.global_cmvn.istd.copy_(istd)
    return model


def start_model(recipe: Recipe, vocab_size: int) -> U2Model:
    """The model that a recipe with a [start] begins with. Raises like `build_model`."""
    start = recipe.start
    assert start is not None
    if recipe.transducer is not None:
        assert start.model is not None
        head = recipe.transducer.head(_beneath(recipe))
        return grown_model(start.model, head, recipe.optimiser.seed)
    if start.model is not None:
        torch.manual_seed(recipe.optimiser.seed)
        model = U2Model(model_config(recipe, vocab_size))
        _take_decoder(model, recipe)
        _take_weights(model, start.model, recipe_decoding(recipe))
        return model
    model = _fresh_model(recipe, vocab_size)
    assert start.whisper is not None
    take_whisper(model.encoder, start.whisper)
    _take_decoder(model, recipe)
    return model


def _beneath(recipe: Recipe) -> ModelConfig:
    """The configuration of the model that a head grows on."""
    assert recipe.start is not None
    assert recipe.start.model is not None
    return start_config(recipe.start.model)


def _take_decoder(model: U2Model, recipe: Recipe) -> None:
    decoding = recipe_decoding(recipe)
    if decoding is not None:
        assert model.whisper_decoder is not None
        assert recipe.teacher is not None
        take_whisper_decoder(model.whisper_decoder, recipe.teacher, decoding)


def _fresh_model(recipe: Recipe, vocab_size: int) -> U2Model:
    torch.manual_seed(recipe.optimiser.seed)
    model = U2Model(model_config(recipe, vocab_size))
    start = InitConfig(
        residual_scale=recipe.network.residual_init_scale,
        blank_bias=recipe.network.initial_blank_logit,
    )
    initialise(model, start)
    return model


def _take_weights(model: U2Model, model_dir: Path, decoding: Decoding | None) -> None:
    """All weights of another model, which may lack a head for phones: then it begins afresh.

    A decoder of another kind, too, stays as it was; of Whisper's with all of its tokens those that
    the recipe has are taken.
    """
    start = u2_of(load_model(model_dir))
    if start.config.phones not in ((), model.config.phones):
        raise RecipeError(f"start.model: {model_dir} has other phones than phones.lexicon")
    weights = start.state_dict()
    if decoding is not None and start.whisper_decoder is None:
        weights = {name: each for name, each in weights.items() if not name.startswith(PREFIX)}
        own = model.state_dict()
        weights |= {name: own[name] for name in own if name.startswith(PREFIX)}
    elif decoding is not None and len(weights[TOKENS]) > decoding.config.vocab_size:
        weights[TOKENS] = decoding.of_whole(weights[TOKENS])
    for name, tensor in model.state_dict().items():
        if name.startswith("phone_ctc."):
            weights.setdefault(name, tensor)
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise RecipeError(f"start.model: {model_dir} is another network: {error}") from error
