"""Our own model directories: config.json, model.safetensors, units.txt and, for BPE, bpe.model.

Weights may be stored in half precision, matrices as int8 a row (`int8_rows`); they always run in
float32 on the CPU. `family` in config.json says what kind of network they are for; without it they
are a U2 model's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from earshot.models.checkpoints.assembly import LoadedModel, assemble
from earshot.models.checkpoints.files.int8_rows import (
    SCALE,
    is_stored_as_rows,
    restore_rows,
    store_rows,
)
from earshot.models.checkpoints.files.safetensors_file import write_safetensors_file
from earshot.models.checkpoints.files.safetensors_index import index_safetensors_file
from earshot.models.checkpoints.files.small_file import read_small_text
from earshot.models.config import ModelConfig
from earshot.models.errors import CheckpointError, TokenizerError, quote
from earshot.models.tokenizers.model_tokenizer import load_tokenizer
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_decoder_config import WhisperDecoderConfig
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer, read_whisper_tokenizer

FORMAT_VERSION = 1
# CMVN statistics span magnitudes that half precision would round.
ALWAYS_FLOAT32 = ("encoder.global_cmvn.mean", "encoder.global_cmvn.istd")


def save_model(
    directory: Path | str,
    model: U2Model,
    tokenizer: Tokenizer,
    name: str,
    dtype: torch.dtype = torch.float32,
    languages: Sequence[str] = (),
    writer: WhisperTokenizer | None = None,
) -> None:
    """Writes a model in our format into `directory`.

    dtype: of its weights, float32 or float16; int8 for int8 a row, and half precision for what is
    no matrix. languages: BCP 47 tags of what it was trained for.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    header = {
        "format_version": FORMAT_VERSION,
        "family": "u2",
        "name": name,
        "languages": list(languages),
        "model": model.config.to_dict(),
    }
    text = json.dumps(header, indent=2, ensure_ascii=False)
    (directory / "config.json").write_text(text + "\n", encoding="utf-8")
    tensors: dict[str, Tensor] = {}
    for key, tensor in model.state_dict().items():
        tensors |= _stored(key, tensor.detach().to("cpu"), dtype)
    write_safetensors_file(directory / "model.safetensors", tensors)
    tokenizer.save(directory)
    if writer is not None:
        writer.save(directory)


def _stored(key: str, tensor: Tensor, dtype: torch.dtype) -> dict[str, Tensor]:
    """One tensor of the network as the file has it, with its scales if it has any."""
    if key in ALWAYS_FLOAT32 or not tensor.is_floating_point():
        return {key: tensor.contiguous()}
    if dtype is not torch.int8:
        return {key: tensor.to(dtype).contiguous()}
    if not is_stored_as_rows(key, tensor):
        return {key: tensor.to(torch.float16).contiguous()}
    rows, scale = store_rows(tensor)
    return {key: rows.contiguous(), key + SCALE: scale}


def load_own_model(directory: Path) -> LoadedModel:
    """Raises CheckpointError, ConfigError or TokenizerError, see earshot.models.errors."""
    header = _read_header(directory / "config.json")
    family = header.get("family", "u2")
    load = FAMILIES.get(family) if isinstance(family, str) else None
    if load is None:
        known = ", ".join(sorted(FAMILIES))
        raise CheckpointError(f"{directory} is of the family {quote(family)}, none of {known}")
    return replace(load(directory, header), family=family, languages=_languages(header))


def _load_u2(directory: Path, header: dict[str, Any]) -> LoadedModel:
    config = ModelConfig.from_dict(header["model"])
    weights = restore_rows(index_safetensors_file(directory / "model.safetensors"))
    name = header["name"] if isinstance(header.get("name"), str) else directory.name
    loaded = assemble(name, config, weights, load_tokenizer(directory), "earshot")
    if not isinstance(config.decoder, WhisperDecoderConfig):
        return loaded
    return replace(loaded, writer=_writer(directory, config.decoder))


def _writer(directory: Path, decoder: WhisperDecoderConfig) -> WhisperTokenizer:
    writer = read_whisper_tokenizer(directory)
    if writer.end_of_text != decoder.end or writer.first_timestamp > decoder.vocab_size:
        raise TokenizerError(f"{directory / 'tokenizer.json'} is not of the model's decoder")
    return writer


FAMILIES: dict[str, Callable[[Path, dict[str, Any]], LoadedModel]] = {"u2": _load_u2}
"""From a directory and what its config.json says; see `LoadedModel.family`."""


def _read_header(path: Path) -> dict[str, Any]:
    try:
        header = json.loads(read_small_text(path))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not JSON: {error}") from error
    if not isinstance(header, dict) or not isinstance(header.get("model"), dict):
        raise CheckpointError(f"{path} has no 'model' section")
    if header.get("format_version") != FORMAT_VERSION:
        found = header.get("format_version")
        raise CheckpointError(f"{path} has format version {found!r}; this is {FORMAT_VERSION}")
    return header


def _languages(header: dict[str, Any]) -> tuple[str, ...]:
    languages = header.get("languages", [])
    if not isinstance(languages, list) or not all(isinstance(tag, str) for tag in languages):
        raise CheckpointError(f"'languages' is {languages!r}, not a list of tags such as \"en\"")
    return tuple(languages)
