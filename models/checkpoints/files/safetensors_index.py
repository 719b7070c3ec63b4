"""Where the tensors of a safetensors file lie in it, for whoever reads them one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import safetensors
import torch
from torch import Tensor

from earshot.models.checkpoints.files.safetensors_file import READ_ERRORS, read_safetensors_file
from earshot.models.checkpoints.files.stored_tensors import StoredFile, StoredPlace, store
from earshot.models.errors import NotACheckpoint

LENGTH = 8
"""Bytes of the header's length, before the header."""
MOST_HEADER = 100_000_000
"""Bytes of a header, by the format."""
METADATA = "__metadata__"
DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
    "U8": torch.uint8, "BOOL": torch.bool,
}  # fmt: skip
"""By the format's names; a file with others is read at once."""


def index_safetensors_file(path: Path) -> dict[str, Tensor]:
    """Tensors by name, stored in the file. Raises NotACheckpoint."""
    try:
        with safetensors.safe_open(path, framework="pt"):
            pass  # its library checks what the header says
        header, begin, file = _header(path)
        if any(each["dtype"] not in DTYPES for each in header.values()):
            return read_safetensors_file(path)
        return {name: _stored(told, file, begin) for name, told in header.items()}
    except (*READ_ERRORS, ValueError, LookupError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise NotACheckpoint(f"{path} is not a safetensors file: {reason}") from error


def _header(path: Path) -> tuple[dict[str, Any], int, StoredFile]:
    """The description of each tensor, the place where the header ends, and the file."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(LENGTH), "little")
        if size > MOST_HEADER:  # another file than the one that was checked
            raise ValueError(f"a header of {size} bytes")
        header = json.loads(file.read(size))
        header.pop(METADATA, None)
        return header, LENGTH + size, StoredFile(file, str(path))


def _stored(told: dict[str, Any], file: StoredFile, begin: int) -> Tensor:
    """A tensor as the header tells of it. Raises ValueError for one of another size."""
    tensor = torch.empty(told["shape"], dtype=DTYPES[told["dtype"]], device="meta")
    first, end = told["data_offsets"]
    if end - first != tensor.nbytes:
        raise ValueError("a tensor is not as large as its place")
    store(tensor, StoredPlace(file, begin + first))
    return tensor
