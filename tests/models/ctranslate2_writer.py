"""Files in CTranslate2's form, for tests that spoil them."""

import struct
from collections.abc import Mapping

import torch
from torch import Tensor

from earshot.models.checkpoints.whisper.ctranslate2_file import TYPES


def text(value: bytes) -> bytes:
    return struct.pack("<H", len(value) + 1) + value + b"\0"


def variable(name: str, tensor: Tensor) -> bytes:
    shape = struct.pack(f"<B{tensor.dim()}I", tensor.dim(), *tensor.shape)
    data = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    kind = struct.pack("<BI", TYPES.index(tensor.dtype), len(data))
    return text(name.encode()) + shape + kind + data


def binary(
    variables: Mapping[str, Tensor] | list[bytes],
    aliases: Mapping[str, str] | None = None,
    version: int = 6,
    kind: bytes = b"WhisperSpec",
) -> bytes:
    """A whole file; variables that are bytes are taken as they are."""
    parts = variables
    if isinstance(parts, Mapping):
        parts = [variable(name, tensor) for name, tensor in parts.items()]
    named = [text(a.encode()) + text(b.encode()) for a, b in (aliases or {}).items()]
    head = struct.pack("<I", version) + text(kind) + struct.pack("<II", 3, len(parts))
    return head + b"".join(parts) + struct.pack("<I", len(named)) + b"".join(named)
