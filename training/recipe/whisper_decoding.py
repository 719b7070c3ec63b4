"""Whisper's decoder of a recipe, with the tokens that lie beside its weights."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from earshot.models.checkpoints.whisper.checkpoint import WhisperCheckpoint, read_whisper
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder_config import WhisperDecoderConfig
from earshot.models.whisper_tokenizer.files import TokenTables, read_tables
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.errors import RecipeError

PREFIX = "decoder."


@lru_cache(maxsize=4)
def whisper_decoder_config(path: Path, language: str) -> WhisperDecoderConfig:
    """The decoder of the Whisper at `path`.

    Raises ModelError for one that is missing or broken, or lacks the language; RecipeError for one
    without decoder or tokenizer.
    """
    checkpoint = read_whisper(path)
    if not checkpoint.has_decoder:
        raise RecipeError(f"network.decoder: {path} has none")
    tokenizer = WhisperTokenizer(token_tables(path, checkpoint))
    dims = checkpoint.dims
    return WhisperDecoderConfig(
        vocab_size=dims.vocabulary,
        positions=dims.text_positions,
        size=dims.text_size,
        attention_heads=dims.text_heads,
        num_blocks=dims.text_blocks,
        prompt=tuple(tokenizer.prompt(language)),
        end=tokenizer.end_of_text,
    )


def token_tables(path: Path, checkpoint: WhisperCheckpoint | None = None) -> TokenTables:
    """The tables of the tokenizer beside a Whisper. Raises RecipeError if there is none."""
    folder = (checkpoint or read_whisper(path)).tokenizer
    if folder is None:
        raise RecipeError(f"network.decoder: no tokenizer.json or vocab.json lies beside {path}")
    return read_tables(folder)


def take_whisper_decoder(decoder: WhisperDecoder, path: Path) -> None:
    """Gives the decoder the weights of the Whisper at `path`. Raises ModelError."""
    found = read_whisper(path).tensors
    names = [name for name in found if name.startswith(PREFIX)]
    decoder.load_state_dict({name.removeprefix(PREFIX): found[name] for name in names})
