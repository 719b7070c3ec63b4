"""The one door through which a Whisper comes in, whoever wrote its weights down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from earshot.models.checkpoints.files.torch_archive import LEGACY_MAGIC
from earshot.models.checkpoints.tensor_check import check_tensors
from earshot.models.checkpoints.whisper.ctranslate2 import read_ctranslate2
from earshot.models.checkpoints.whisper.dims import WhisperDims, read_dims
from earshot.models.checkpoints.whisper.found_weights import FoundWeights
from earshot.models.checkpoints.whisper.hugging_face import holds_hugging_face, read_hugging_face
from earshot.models.checkpoints.whisper.openai import read_openai, read_safetensors
from earshot.models.checkpoints.whisper.shapes import expected_tensors
from earshot.models.errors import CheckpointError, NotACheckpoint

START_BYTES = 32


@dataclass(frozen=True)
class WhisperCheckpoint:
    """A Whisper that a model may start from.

    tensors: float32, under OpenAI's names (`encoder.blocks.0.attn.query.weight`); all that `dims`
    call for and no others, each finite. The decoder's output is its `token_embedding`. tokenizer:
    the folder with its tokenizer's files, `read_whisper_tokenizer` knows which; None without any.
    """

    dims: WhisperDims
    tensors: dict[str, Tensor]
    tokenizer: Path | None = None

    @property
    def has_decoder(self) -> bool:
        """Whether there is more than the encoder."""
        return self.dims.text_size > 0


def read_whisper(path: Path) -> WhisperCheckpoint:
    """A Whisper from OpenAI's `.pt`, a folder of Hugging Face's or CTranslate2's, or safetensors.

    A file is known by its first bytes, not by its name. Raises CheckpointError of the kind that
    fits (`earshot.models.errors`): a tensor that is missing, has no place, another shape than the
    file's own sizes, or infinite values is named.
    """
    found = _reader(path)(path)
    dims = read_dims(found.tensors, found.stated)
    check_tensors(expected_tensors(dims), found.tensors)
    tensors = {name: _as_float32(tensor) for name, tensor in found.tensors.items()}
    return WhisperCheckpoint(dims, tensors, _tokenizer_beside(path))


def _reader(path: Path) -> Callable[[Path], FoundWeights]:
    if not path.is_dir():
        return _file_reader(path)
    if holds_hugging_face(path):
        return read_hugging_face
    if (path / "model.bin").is_file():
        return lambda folder: read_ctranslate2(folder / "model.bin")
    raise CheckpointError(f"{path} holds no Whisper of Hugging Face's or CTranslate2's kind")


def _file_reader(path: Path) -> Callable[[Path], FoundWeights]:
    try:
        with path.open("rb") as file:
            start = file.read(START_BYTES)
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error}") from error
    if start.startswith((b"PK", LEGACY_MAGIC)):
        return read_openai
    if start[6:].startswith(b"WhisperSpec\0"):
        return read_ctranslate2
    if start[8:9] == b"{":
        return read_safetensors
    raise NotACheckpoint(f"{path} is no weight file of a Whisper")


def _tokenizer_beside(path: Path) -> Path | None:
    folder = path if path.is_dir() else path.parent
    has_one = any((folder / name).is_file() for name in ("tokenizer.json", "vocab.json"))
    return folder if has_one else None


def _as_float32(tensor: Tensor) -> Tensor:
    """A copy with memory of its own: one that was read may share it with others."""
    return tensor.to(torch.float32, copy=True).contiguous()
