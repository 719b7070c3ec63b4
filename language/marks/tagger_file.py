"""One file with everything of a tagger: sizes, vocabulary, forms, and weights of eight bits."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor

from earshot.language.marks.tagger_network import TaggerConfig, TaggerNetwork
from earshot.language.marks.word_numbers import WordNumbers
from earshot.language.marks.word_tagger import WordTagger
from earshot.models.checkpoints.files.int8_rows import SCALE, restore_rows, store_rows
from earshot.models.checkpoints.files.safetensors_file import (
    read_with_metadata,
    write_safetensors_file,
)
from earshot.models.checkpoints.layout import without_memory
from earshot.models.checkpoints.tensor_check import check_tensors
from earshot.models.errors import CheckpointError, ConfigError, NotACheckpoint

TAGGER_FILE = "tagger.safetensors"
FORMAT_VERSION = "1"
_WORDS = "vocabulary"


def save_tagger(path: Path, tagger: WordTagger) -> None:
    """The file is there entirely or not at all. Matrices as integers, a scale for each row."""
    tensors: dict[str, Tensor] = {}
    for name, weights in tagger.network.state_dict().items():
        if weights.dim() == 2:
            tensors[name], tensors[name + SCALE] = store_rows(weights)
        else:
            tensors[name] = weights.half()
    words = "\n".join(tagger.numbers.vocabulary).encode()
    tensors[_WORDS] = torch.frombuffer(bytearray(words), dtype=torch.uint8)
    metadata = {
        "format_version": FORMAT_VERSION,
        "network": json.dumps(asdict(tagger.network.config)),
        "forms": json.dumps(tagger.forms),
    }
    write_safetensors_file(path, tensors, metadata)


def load_tagger(path: Path) -> WordTagger:
    """Read a tagger, in single precision. Raises CheckpointError."""
    tensors, metadata = read_with_metadata(path)
    if metadata.get("format_version") != FORMAT_VERSION or _WORDS not in tensors:
        raise NotACheckpoint(f"{path} is not a tagger of format {FORMAT_VERSION}")
    words = _vocabulary(path, tensors.pop(_WORDS))
    try:
        config = TaggerConfig(**json.loads(metadata["network"]))
        forms = _forms(json.loads(metadata["forms"]))
    except (KeyError, ValueError, TypeError, RecursionError, ConfigError) as error:
        raise CheckpointError(f"{path} has no usable sizes or forms: {error}") from error
    if len(words) > config.words:
        raise CheckpointError(f"{path} has {len(words)} words, more than {config.words}")
    with without_memory():
        network = TaggerNetwork(config)
    try:
        weights = restore_rows(tensors)
        check_tensors(network.state_dict(), weights)
    except CheckpointError as error:
        raise CheckpointError(f"{path} does not have the weights of its sizes: {error}") from error
    singles = {name: weight.float() for name, weight in weights.items()}
    network.load_state_dict(singles, assign=True)
    return WordTagger(network, WordNumbers(words, config), forms)


def _vocabulary(path: Path, words: Tensor) -> list[str]:
    if words.dtype != torch.uint8 or words.dim() != 1:
        raise CheckpointError(f"{path} has no usable vocabulary")
    try:
        return words.numpy().tobytes().decode().split("\n")
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{path} has no usable vocabulary: {error}") from error


def _forms(values: object) -> dict[str, str]:
    if not isinstance(values, dict):
        raise TypeError("forms are no table")
    wrong = [word for word, form in values.items() if not isinstance(form, str)]
    if wrong or any(word != form.lower() for word, form in values.items()):
        raise ValueError("a form is another word")
    return values
