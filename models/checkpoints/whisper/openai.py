"""Weights under OpenAI's own names: their `.pt`, and safetensors of an encoder or of both sides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from earshot.models.checkpoints.files.safetensors_file import read_safetensors_file
from earshot.models.checkpoints.files.torch_archive import check_state_dict, read_archive
from earshot.models.checkpoints.whisper.found_weights import FoundWeights
from earshot.models.errors import CheckpointError, UnknownKeys, quote

DIMS = {
    "n_mels": "mels",
    "n_audio_ctx": "audio_positions",
    "n_audio_state": "audio_size",
    "n_audio_head": "audio_heads",
    "n_audio_layer": "audio_blocks",
    "n_vocab": "vocabulary",
    "n_text_ctx": "text_positions",
    "n_text_state": "text_size",
    "n_text_head": "text_heads",
    "n_text_layer": "text_blocks",
}
"""Their fields, and ours."""


def read_openai(path: Path) -> FoundWeights:
    """Weights of a `.pt`: `dims` and `model_state_dict` as OpenAI has them, or tensors alone.

    Raises NotACheckpoint, UnsafeCheckpoint, UnknownKeys, CheckpointError.
    """
    content = read_archive(path)
    if not isinstance(content, Mapping) or "model_state_dict" not in content:
        return FoundWeights(check_state_dict(path, content))
    if unknown := {str(key) for key in content} - {"dims", "model_state_dict"}:
        raise UnknownKeys(unknown)
    weights = check_state_dict(path, content["model_state_dict"])
    return FoundWeights(weights, _read_dims(path, content.get("dims")))


def read_safetensors(path: Path) -> FoundWeights:
    """Tensors of a safetensors file, of the encoder alone or of both sides.

    Raises NotACheckpoint, UnusableNumbers, CheckpointError.
    """
    tensors = read_safetensors_file(path)
    if any(".layers.0." in name for name in tensors):
        raise CheckpointError(f"{path} has Hugging Face's names: name its folder instead")
    return FoundWeights(tensors)


def _read_dims(path: Path, dims: object) -> dict[str, int]:
    if not isinstance(dims, Mapping) or dims.keys() != DIMS.keys():
        raise CheckpointError(f"{path} should state the dims {', '.join(DIMS)}, not {quote(dims)}")
    wrong = [name for name, value in dims.items() if type(value) is not int or value < 0]
    if wrong:
        raise CheckpointError(f"{path} states {wrong[0]} {quote(dims[wrong[0]])}, which is no size")
    return {DIMS[name]: value for name, value in dims.items()}
