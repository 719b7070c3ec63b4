"""One file with everything of a neural language model: sizes, tokenizer and weights."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import sentencepiece
import torch
from torch import Tensor

from earshot.models.checkpoints.files.safetensors_file import (
    read_with_metadata,
    write_safetensors_file,
)
from earshot.models.checkpoints.layout import without_memory
from earshot.models.checkpoints.tensor_check import check_tensors
from earshot.models.errors import CheckpointError, ConfigError, NotACheckpoint
from earshot.models.neural_lm.network import NeuralLm, NeuralLmConfig
from earshot.models.neural_lm.sentence_scorer import SentenceScorer

NEURAL_LM_FILE = "neural_lm.safetensors"
FORMAT_VERSION = "1"
TOKENIZER = "pieces"  # the sentencepiece model, as bytes


def save_neural_lm(
    path: Path, network: NeuralLm, tokenizer: bytes, dtype: torch.dtype = torch.float16
) -> None:
    """The file is there entirely or not at all."""
    tensors = {
        name: tensor.detach().to("cpu", dtype).contiguous()
        for name, tensor in network.state_dict().items()
    }
    tensors[TOKENIZER] = torch.frombuffer(bytearray(tokenizer), dtype=torch.uint8)
    config = json.dumps(dataclasses.asdict(network.config))
    metadata = {"format_version": FORMAT_VERSION, "network": config}
    write_safetensors_file(path, tensors, metadata)


def load_neural_lm(path: Path, device: torch.device | str = "cpu") -> SentenceScorer:
    """Load a language model, ready to score on `device`, in single precision.

    Raises CheckpointError (see `earshot.models.errors`).
    """
    tensors, metadata = read_with_metadata(path)
    if metadata.get("format_version") != FORMAT_VERSION or TOKENIZER not in tensors:
        raise NotACheckpoint(f"{path} is not a neural language model of format {FORMAT_VERSION}")
    with without_memory():
        network = NeuralLm(_config(path, metadata.get("network", "")))
    tokenizer = _tokenizer(path, tensors.pop(TOKENIZER), network.config)
    try:
        check_tensors(network.state_dict(), tensors)
    except CheckpointError as error:
        raise CheckpointError(f"{path} does not have the weights of its sizes: {error}") from error
    weights = {name: tensor.float() for name, tensor in tensors.items()}
    network.load_state_dict(weights, assign=True)
    network.requires_grad_(False)
    return SentenceScorer(network.to(device), tokenizer)


def _config(path: Path, text: str) -> NeuralLmConfig:
    try:
        return NeuralLmConfig(**json.loads(text))
    except (ValueError, TypeError, RecursionError, ConfigError) as error:
        raise CheckpointError(f"{path} has no usable sizes: {error}") from error


def _tokenizer(
    path: Path, data: Tensor, config: NeuralLmConfig
) -> sentencepiece.SentencePieceProcessor:
    if data.dtype != torch.uint8 or data.dim() != 1:
        raise CheckpointError(f"{path} has no usable tokenizer")
    try:
        tokenizer = sentencepiece.SentencePieceProcessor(model_proto=data.numpy().tobytes())
    except RuntimeError as error:
        raise CheckpointError(f"{path} has no usable tokenizer: {error}") from error
    if tokenizer.get_piece_size() != config.vocab_size or tokenizer.eos_id() < 0:
        raise CheckpointError(
            f"{path} has {tokenizer.get_piece_size()} tokens for {config.vocab_size} places, "
            "or no token for the end"
        )
    return tokenizer
