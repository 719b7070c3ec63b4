"""One file with everything of a tagger: sizes, vocabulary, forms, and weights of eight bits."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import safetensors
import torch
from torch import Tensor

from earshot.language.marks.tagger_network import TaggerConfig, TaggerNetwork
from earshot.language.marks.word_numbers import WordNumbers
from earshot.language.marks.word_tagger import WordTagger
from earshot.models.checkpoints.layout import without_memory
from earshot.models.checkpoints.safetensors_file import write_safetensors_file
from earshot.models.checkpoints.tensor_check import check_tensors
from earshot.models.errors import CheckpointError, ConfigError, NotACheckpoint

TAGGER_FILE = "tagger.safetensors"
FORMAT_VERSION = "1"
_WORDS = "vocabulary"
_SCALE = ".scale"
_LEVELS = 127


def save_tagger(path: Path, tagger: WordTagger) -> None:
    """The file is there entirely or not at all. Matrices as integers, a scale for each row."""
    tensors: dict[str, Tensor] = {}
    for name, weights in tagger.network.state_dict().items():
        if weights.dim() == 2:
            scale = (weights.abs().amax(dim=1) / _LEVELS).clamp(min=1e-8)
            tensors[name] = (weights / scale[:, None]).round().to(torch.int8)
            tensors[name + _SCALE] = scale.half()
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
    metadata, tensors = _read(path)
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
    weights = _whole(path, tensors)
    try:
        check_tensors(network.state_dict(), weights)
    except CheckpointError as error:
        raise CheckpointError(f"{path} does not have the weights of its sizes: {error}") from error
    network.load_state_dict(weights, assign=True)
    return WordTagger(network, WordNumbers(words, config), forms)


def _read(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return file.metadata() or {}, tensors
    except (OSError, safetensors.SafetensorError) as error:
        raise NotACheckpoint(f"{path} is not a safetensors file: {error}") from error


def _vocabulary(path: Path, words: Tensor) -> list[str]:
    try:
        return bytes(words.to(torch.uint8).flatten().tolist()).decode().split("\n")
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{path} has no usable vocabulary: {error}") from error


def _forms(values: object) -> dict[str, str]:
    if not isinstance(values, dict):
        raise TypeError("forms are no table")
    wrong = [word for word, form in values.items() if not isinstance(form, str)]
    if wrong or any(word != form.lower() for word, form in values.items()):
        raise ValueError("a form is another word")
    return values


def _whole(path: Path, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights in single precision; matrices by their rows' scales."""
    weights = {}
    for name, tensor in tensors.items():
        if name.endswith(_SCALE):
            continue
        scale = tensors.get(name + _SCALE)
        weights[name] = tensor.float()
        if tensor.dim() == 2:
            if scale is None or scale.shape != tensor.shape[:1]:
                raise CheckpointError(f"{path}: {name} has no scale for each of its rows")
            weights[name] *= scale.float()[:, None]
    return weights
