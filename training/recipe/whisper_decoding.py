"""Whisper's decoder of a recipe, with the tokens that lie beside its weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.whisper.checkpoint import read_whisper
from earshot.models.errors import TokenizerError
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder_config import WhisperDecoderConfig
from earshot.models.whisper_tokenizer.fewer_tokens import fewer_tokens
from earshot.models.whisper_tokenizer.files import TokenTables
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.errors import RecipeError
from earshot.training.recipe.config import NetworkConfig
from earshot.training.whisper_text.used_tokens import used_tokens
from earshot.training.whisper_text.whisper_tokens import tokenizer_beside
from earshot.training.whisper_text.written_words import require_spaces

PREFIX = "decoder."
EMBEDDING = "token_embedding.weight"


@dataclass(frozen=True)
class Decoding:
    """Whisper's decoder and the tables of its tokenizer.

    rows: the numbers that its tokens have in the Whisper, None where it has them all.
    """

    config: WhisperDecoderConfig
    tables: TokenTables
    rows: tuple[int, ...] | None = None

    def of_whole(self, embedding: Tensor) -> Tensor:
        """The rows (V, D) of its tokens among those of all."""
        return embedding if self.rows is None else embedding[torch.tensor(self.rows)]


@lru_cache(maxsize=4)
def whole_decoding(path: Path, language: str) -> Decoding:
    """The decoder of the Whisper at `path`.

    Raises ModelError for one that is missing or broken, or lacks the language; RecipeError for one
    without decoder, or without a tokenizer of its own, or a language without spaces.
    """
    require_spaces(language)
    checkpoint = read_whisper(path)
    if not checkpoint.has_decoder:
        raise RecipeError(f"network.decoder: {path} has none")
    tokenizer = tokenizer_beside(path, checkpoint)
    dims = checkpoint.dims
    config = WhisperDecoderConfig(
        vocab_size=dims.vocabulary,
        positions=dims.text_positions,
        size=dims.text_size,
        attention_heads=dims.text_heads,
        num_blocks=dims.text_blocks,
        prompt=tuple(tokenizer.prompt(language)),
        end=tokenizer.end_of_text,
    )
    return Decoding(config, tokenizer.tables)


@lru_cache(maxsize=4)
def decoding_of(path: Path, net: NetworkConfig, start: Path | None) -> Decoding:
    """The decoder of a recipe: that of the Whisper at `path`, with as many tokens as the recipe's.

    start: a model that the recipe goes on from. Where its decoder is Whisper's with a part of the
    tokens, it is that part. Raises ModelError like `whole_decoding`; RecipeError for a number of
    tokens that cannot be, or that such a start has not; CorpusError for texts that are missing.
    """
    whole = whole_decoding(path, net.language)
    known = None if start is None else _tables_of(start)
    if known is not None and known.vocabulary != whole.tables.vocabulary:
        if net.decoder_tokens not in (None, len(known.vocabulary)):
            raise RecipeError(
                f"network.decoder_tokens: {start} has {len(known.vocabulary)} of them already"
            )
        return _cut(whole, known)
    if net.decoder_tokens is None:
        return whole
    if not net.decoder_texts:
        raise RecipeError("network.decoder_tokens: needs decoder_texts")
    wanted = used_tokens(WhisperTokenizer(whole.tables), net.decoder_texts)
    special = list(dict.fromkeys((whole.config.end, *whole.config.prompt)))
    try:
        return _cut(whole, fewer_tokens(whole.tables, net.decoder_tokens, wanted, special))
    except TokenizerError as error:
        raise RecipeError(f"network.decoder_tokens: {error}") from error


@lru_cache(maxsize=4)
def _tables_of(model_dir: Path) -> TokenTables | None:
    writer = load_model(model_dir).writer
    return None if writer is None else writer.tables


def _cut(whole: Decoding, tables: TokenTables) -> Decoding:
    """The part of it that has the tokens of some tables, which are among its own."""
    theirs = {**whole.tables.vocabulary, **whole.tables.special}
    numbers = {**tables.vocabulary, **tables.special}
    if foreign := numbers.keys() - theirs.keys():
        raise RecipeError(f"start.model: its decoder has {len(foreign)} tokens of another Whisper")
    rows = {theirs[text]: number for text, number in numbers.items()}
    if not {whole.config.end, *whole.config.prompt} <= rows.keys():
        raise RecipeError("network.language: the decoder of start.model knows another one")
    config = replace(
        whole.config,
        vocab_size=len(rows),
        prompt=tuple(rows[token] for token in whole.config.prompt),
        end=rows[whole.config.end],
    )
    return Decoding(config, tables, tuple(sorted(rows, key=lambda token: rows[token])))


def take_whisper_decoder(decoder: WhisperDecoder, path: Path, decoding: Decoding) -> None:
    """Gives the decoder the weights of the Whisper at `path`. Raises ModelError."""
    found = {
        name.removeprefix(PREFIX): tensor
        for name, tensor in read_whisper(path).tensors.items()
        if name.startswith(PREFIX)
    }
    decoder.load_state_dict({**found, EMBEDDING: decoding.of_whole(found[EMBEDDING])})
