"""The network of a recipe that starts from a Whisper, with the sizes of its start."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.whisper.checkpoint import read_whisper
from earshot.models.checkpoints.whisper.dims import WhisperDims
from earshot.models.config import EncoderConfig, ModelConfig
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.whisper_start import start_from_whisper, whisper_encoder_config
from earshot.training.errors import RecipeError
from earshot.training.recipe.config import NetworkConfig, StartConfig


@lru_cache(maxsize=8)
def whisper_dims(path: Path) -> WhisperDims:
    """The sizes of the Whisper at `path`. Raises ModelError if there is none."""
    return read_whisper(path).dims


@lru_cache(maxsize=8)
def start_config(model_dir: Path) -> ModelConfig:
    """The configuration of a model that a run starts from. Raises ModelError if there is none."""
    return u2_of(load_model(model_dir)).config


def whisper_config(net: NetworkConfig, start: StartConfig) -> EncoderConfig:
    """The encoder's configuration.

    Raises ModelError for a start that is missing or broken, RecipeError for a model whose encoder
    is another one than the recipe's.
    """
    if start.whisper is not None:
        dims = whisper_dims(start.whisper)
        config = whisper_encoder_config(
            dims, pool_after_block=net.pool_after_block, narrow=net.narrow
        )
        return _with_dropout(config, net.dropout_rate)
    assert start.model is not None
    found = start_config(start.model).encoder
    if found.input_layer != "whisper":
        raise RecipeError(f"start.model: {start.model} does not come from a Whisper")
    for key in ("pool_after_block", "narrow"):
        if getattr(found, key) != getattr(net, key):
            raise RecipeError(f"network.{key}: {start.model} has {getattr(found, key)}")
    return _with_dropout(found, net.dropout_rate)


def take_whisper(encoder: Encoder, path: Path) -> None:
    """Gives the encoder the weights of the Whisper at `path`. Raises ModelError."""
    start_from_whisper(encoder, read_whisper(path))


def _with_dropout(config: EncoderConfig, rate: float) -> EncoderConfig:
    return replace(
        config,
        dropout_rate=rate,
        positional_dropout_rate=rate,
        attention_dropout_rate=rate,
    )
