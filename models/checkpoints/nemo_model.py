"""NeMo's .nemo archives: model_config.yaml, model_weights.ckpt and a tokenizer's files in one tar.

Every tensor must have a place in the network and every key that would change its output must be
one we implement; what is dead is listed beside what is read (`models/checkpoints/nemo`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.files.small_file import MAX_CONFIG_BYTES
from earshot.models.checkpoints.files.stored_tensors import StoredFile
from earshot.models.checkpoints.files.torch_archive import OpenFile
from earshot.models.checkpoints.files.torch_index import index_state_dict
from earshot.models.checkpoints.files.yaml_text import parse_yaml
from earshot.models.checkpoints.filled_network import fill
from earshot.models.checkpoints.layout import without_memory
from earshot.models.checkpoints.nemo.archive import (
    CONFIG,
    WEIGHTS,
    NemoArchive,
    is_nemo,
    only_nemo,
    open_nemo,
)
from earshot.models.checkpoints.nemo.config import read_config
from earshot.models.checkpoints.nemo.tensor_names import rename_tensors
from earshot.models.checkpoints.nemo.tokenizer import read_tokenizer
from earshot.models.errors import CheckpointError, TokenizerError, naming
from earshot.models.fastconformer.config import FastConformerModelConfig
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.tokenizers.units import CtcUnits

LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""Of the words that a prompt knows, those that name a language ("auto" does not)."""


def claims_nemo(path: Path) -> bool:
    """Whether a path is an archive of NeMo's, or a directory with exactly one .nemo in it."""
    return is_nemo(path) or (path.is_dir() and only_nemo(path) is not None)


def nemo_file(path: Path) -> Path:
    """The archive that a path is or holds. Raises CheckpointError for a directory without one."""
    found = only_nemo(path) if path.is_dir() else path
    if found is None:
        raise CheckpointError(f"{path} should hold one .nemo archive")
    return found


def load_nemo_model(path: Path) -> LoadedModel:
    """A model whose encoder's layers wait for their weights (`models/native/late_weights.py`).

    Raises CheckpointError, ConfigError or TokenizerError, see earshot.models.errors.
    """
    with open_nemo(nemo_file(path)) as archive, naming(archive.source):
        options = _read_options(archive)
        config = read_config(options)
        tokenizer = read_tokenizer(options, archive)
        if tokenizer.vocab_size != config.vocab_size:
            raise TokenizerError(
                f"the tokenizer has {tokenizer.vocab_size} units, the model {config.vocab_size}"
            )
        weights = rename_tensors(_read_weights(archive))
    with without_memory():
        model = FastConformerModel(config)
    fill(model, weights, given_up=True, late=list(model.encoder.layers))
    return LoadedModel(
        path.stem if path.is_file() else path.name,
        model,
        tokenizer,
        "nemo",
        family="fastconformer",
        languages=prompt_languages(config),
        ctc=CtcUnits(blank_id=config.vocab_size) if config.has_ctc else None,
    )


def _read_options(archive: NemoArchive) -> Mapping[str, Any]:
    member = archive.member(CONFIG)
    source = f"{archive.source}: {member.name}"
    return parse_yaml(archive.text(member, MAX_CONFIG_BYTES), source)


def _read_weights(archive: NemoArchive) -> dict[str, Tensor]:
    member = archive.member(WEIGHTS)
    name = f"{archive.source}: {member.name}"
    with archive.open(member) as file:
        kept = StoredFile(archive.file, name, member.offset)
        return index_state_dict(OpenFile(file, name, member.size), kept)


def prompt_languages(config: FastConformerModelConfig) -> tuple[str, ...]:
    """Tags of the languages that a model's prompt knows; none without a prompt."""
    told = config.prompt.languages if config.prompt else {}
    return tuple(language for language in told if LANGUAGE_TAG.fullmatch(language))
