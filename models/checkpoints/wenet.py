"""WeNet model directories of all three eras: train.yaml, final.pt, units.txt, global_cmvn.

Era 1 (2020 to January 2022) and era 2 (to December 2023) have a flat `cmvn_file`; era 3 names its
parts (`cmvn_conf`, `tokenizer_conf`). Every tensor of final.pt must have a place in the network
and every key that would change its output must be one we implement; what is dead is listed here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from earshot.models.checkpoints.assembly import LoadedModel, assemble
from earshot.models.checkpoints.files.small_file import read_small_text
from earshot.models.checkpoints.files.torch_index import index_file
from earshot.models.checkpoints.files.yaml_text import parse_yaml
from earshot.models.checkpoints.wenet_config import read_config, read_tokenizer_kind, subsection
from earshot.models.errors import CheckpointError
from earshot.models.layers.cmvn import GlobalCmvn, read_cmvn
from earshot.models.tokenizers.model_tokenizer import load_tokenizer

# Tensors that no forward pass of WeNet reads, or that we compute: era 1's concatenation layers
# and, since March 2024, positional tables.
DEAD_TENSORS = re.compile(
    r"encoder\.encoders\.\d+\.concat_linear\.(weight|bias)"
    r"|decoder\.((left|right)_decoder\.)?decoders\.\d+\.concat_linear[12]\.(weight|bias)"
    r"|encoder\.embed\.pos_enc\.pe"
    r"|decoder\.((left|right)_decoder\.)?embed\.1\.pe"
)
CMVN_TENSORS = ("encoder.global_cmvn.mean", "encoder.global_cmvn.istd")


def load_wenet_model(directory: Path) -> LoadedModel:
    """Raises CheckpointError, ConfigError or TokenizerError, see earshot.models.errors."""
    path = directory / "train.yaml"
    options = parse_yaml(read_small_text(path), str(path))
    weights = _live_tensors(index_file(directory / "final.pt"))
    tokenizer = load_tokenizer(directory, _units_name(directory), read_tokenizer_kind(options))
    config = read_config(options, tokenizer.vocab_size)
    if not any(key in weights for key in CMVN_TENSORS):
        weights |= _outside_cmvn(directory, options, config.encoder.input_dim)
    return assemble(directory.name, config, weights, tokenizer, "wenet")


def _live_tensors(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key: tensor for key, tensor in weights.items() if not DEAD_TENSORS.fullmatch(key)}


def _units_name(directory: Path) -> str:
    """Old archives call the table words.txt."""
    has_old_name_only = (
        not (directory / "units.txt").is_file() and (directory / "words.txt").is_file()
    )
    return "words.txt" if has_old_name_only else "units.txt"


def _outside_cmvn(directory: Path, options: Mapping[str, Any], size: int) -> dict[str, Tensor]:
    """Statistics for weights without any: the directory's file, else the identity.

    Raises CheckpointError if train.yaml asks for statistics and there are none.
    """
    named = subsection(options, "cmvn_conf").get("cmvn_file") or options.get("cmvn_file")
    path = directory / (Path(named).name if isinstance(named, str) else "global_cmvn")
    path = path if path.is_file() else directory / "global_cmvn"
    if path.is_file():
        return dict(zip(CMVN_TENSORS, read_cmvn(path), strict=True))
    if named:
        raise CheckpointError(f"train.yaml asks for CMVN; neither final.pt nor {path} has it")
    identity = GlobalCmvn(size)
    return dict(zip(CMVN_TENSORS, (identity.mean, identity.istd), strict=True))
