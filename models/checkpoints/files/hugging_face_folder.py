"""Folders as Hugging Face's transformers writes them: JSON, and weights in one file or several.

Several are listed by an index, `model.safetensors.index.json`, beside them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from earshot.models.checkpoints.files.safetensors_file import read_safetensors_file
from earshot.models.checkpoints.files.safetensors_index import index_safetensors_file
from earshot.models.checkpoints.files.small_file import read_small_text
from earshot.models.errors import (
    CheckpointError,
    MissingKeys,
    UnknownKeys,
    UnsafeCheckpoint,
    quote,
)

Reader = Callable[[Path], dict[str, Tensor]]
SAFETENSORS: Mapping[str, Reader] = {"model.safetensors": read_safetensors_file}
"""What newer releases write."""
INDEXED: Mapping[str, Reader] = {"model.safetensors": index_safetensors_file}
"""The same, for whoever reads their tensors one by one (`stored_tensors.py`)."""
INDEX = "{}.index.json"
PLAIN_NAME = re.compile(r"[\w-][\w.-]*", re.ASCII)


def find_weights(folder: Path, readers: Mapping[str, Reader] = SAFETENSORS) -> Path | None:
    """The file of weights, else its index, of the first name that is there; None without any."""
    for name in readers:
        for path in (folder / name, folder / INDEX.format(name)):
            if path.is_file():
                return path
    return None


def read_weights(folder: Path, readers: Mapping[str, Reader] = SAFETENSORS) -> dict[str, Tensor]:
    """All tensors by name, from one file or from those that an index lists.

    readers: by the names of files, looked for in their order, each before its index. Raises
    CheckpointError without any, NotACheckpoint, UnsafeCheckpoint for an index that leads out of
    the folder, MissingKeys and UnknownKeys for tensors that are not as an index lists them.
    """
    for name, read in readers.items():
        if (folder / name).is_file():
            return read(folder / name)
        if (folder / INDEX.format(name)).is_file():
            return _read_shards(folder / INDEX.format(name), read)
    raise CheckpointError(f"{folder} holds no weights: neither {', nor '.join(readers)}")


def read_json(path: Path) -> dict[str, Any]:
    """A mapping. Raises CheckpointError for a file that is missing, huge, or holds none."""
    try:
        content = json.loads(read_small_text(path))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} is no mapping")
    return content


def _read_shards(index: Path, read: Reader) -> dict[str, Tensor]:
    weight_map = read_json(index).get("weight_map")
    if not isinstance(weight_map, Mapping) or not weight_map:
        raise CheckpointError(f"{index} lists no weights")
    weights: dict[str, Tensor] = {}
    for shard in sorted({_plain_name(index, name) for name in weight_map.values()}):
        listed = {key for key, name in weight_map.items() if name == shard}
        found = read(index.parent / shard)
        if missing := listed - found.keys():
            raise MissingKeys(missing)
        if unknown := found.keys() - listed:
            raise UnknownKeys(unknown)
        weights |= found
    return weights


def _plain_name(index: Path, name: object) -> str:
    """A file beside the index. Raises UnsafeCheckpoint for a path that leads elsewhere."""
    if not isinstance(name, str) or not PLAIN_NAME.fullmatch(name):
        raise UnsafeCheckpoint(f"{index} names {quote(name)}, which is no file beside it")
    return name
