"""Parakeets and Nemotrons in the folders that Hugging Face's transformers writes.

A folder is `config.json`, `model.safetensors` (or several files with an index), `tokenizer.json`
and `processor_config.json`. Weights may be stored in half precision; they run in float32.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.files.hugging_face_folder import (
    INDEXED,
    find_weights,
    read_json,
    read_weights,
)
from earshot.models.checkpoints.filled_network import fill
from earshot.models.checkpoints.layout import without_memory
from earshot.models.checkpoints.nemo.hugging_face_config import HuggingFaceConfig, read_config
from earshot.models.checkpoints.nemo.hugging_face_names import renamed
from earshot.models.checkpoints.nemo_model import prompt_languages
from earshot.models.errors import CheckpointError, naming
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.features.nemo_mel import NemoMel
from earshot.models.tokenizers.hugging_face import read_hugging_face_tokenizer
from earshot.models.tokenizers.units import CtcUnits

PROCESSORS = ("processor_config.json", "preprocessor_config.json")


def is_hugging_face_folder(path: Path) -> bool:
    """Whether the folder's config.json names a `model_type`, and no version of our own format."""
    try:
        content = read_json(path / "config.json")
    except CheckpointError:
        return False
    return "model_type" in content and "format_version" not in content


def hugging_face_weights(folder: Path) -> Path:
    """The file of weights, or the index of several."""
    return find_weights(folder) or folder / "model.safetensors"


def load_hugging_face_model(folder: Path) -> LoadedModel:
    """The model of a folder, whose layers wait for their weights (`native/late_weights.py`).

    The network is laid out without memory first, so a configuration can never make us allocate
    more than the weight file holds. Raises CheckpointError (which kind of broken it is, see
    earshot.models.errors), ConfigError or TokenizerError.
    """
    with naming(folder):
        config = read_config(read_json(folder / "config.json"), *_read_processor(folder))
    with without_memory():
        network = FastConformerModel(config.model)
    labels = config.model.vocab_size
    tokenizer = read_hugging_face_tokenizer(folder / "tokenizer.json", labels)
    weights = renamed(read_weights(folder, INDEXED)) | _computed(config)
    fill(network, weights, given_up=True, late=list(network.encoder.layers))
    return LoadedModel(
        folder.name,
        network,
        tokenizer,
        "hugging face",
        family="fastconformer",
        languages=prompt_languages(config.model),
        ctc=CtcUnits(labels) if config.model.has_ctc else None,
    )


def _read_processor(folder: Path) -> tuple[dict[str, Any], str]:
    """The processor's file, or an older release's of the features alone; empty without either."""
    name = next((name for name in PROCESSORS if (folder / name).is_file()), None)
    return (read_json(folder / name), name) if name else ({}, PROCESSORS[0])


def _computed(config: HuggingFaceConfig) -> dict[str, Tensor]:
    """The window and filters of its features, which no folder holds, in its precision."""
    features = NemoMel(config.model.features)
    return {
        f"features.{name}": buffer.to(config.features.precision)
        for name, buffer in features.state_dict().items()
    }
