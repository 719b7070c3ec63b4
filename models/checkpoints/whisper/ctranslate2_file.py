"""CTranslate2's binary file, as its module `ctranslate2.specs.model_spec` writes it.

Version, name of the kind of model, revision; a count of variables, each with name, shape, type and
data; a count of aliases, each a name for a variable. All numbers are little-endian, a text is its
length with the closing zero byte, and the text.
"""

from __future__ import annotations

import io
import math
import struct
from pathlib import Path

import torch
from torch import Tensor

from earshot.models.checkpoints.files.claimed_memory import check_claimed
from earshot.models.errors import (
    CheckpointError,
    NotACheckpoint,
    UnsafeCheckpoint,
    UnusableNumbers,
    quote,
)

BINARY_VERSION = 6
KIND = "WhisperSpec"
MAX_FILE_BYTES = 16 * 1024**3
MAX_AXES = 4
MAX_AXIS = 2**20  # More than any vocabulary; a stride of four such axes is a number of 64 bits.
# By the numbers that stand for them in a file.
TYPES = (
    torch.float32,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.float16,
    torch.bfloat16,
)


def read_variables(path: Path) -> dict[str, Tensor]:
    """Variables of a Whisper by name, those that aliases name too, which share their memory.

    Nothing is allocated that the file does not hold. Raises NotACheckpoint for a file that is
    damaged, cut or longer than it says, UnusableNumbers for a type of number unknown here,
    UnsafeCheckpoint for one too large or of aliases that claim far more memory than the file has,
    CheckpointError for another version or kind of model.
    """
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise UnsafeCheckpoint(f"{path} is {size} bytes; no model of ours is that large")
        with path.open("rb") as file:
            return _read(_Content(path, file, size))
    except OSError as error:
        raise NotACheckpoint(f"cannot read {path}: {error}") from error


class _Content:
    """The bytes of a file, taken in order and never more than there are."""

    def __init__(self, path: Path, file: io.BufferedReader, size: int) -> None:
        self.path = path
        self.left = size
        self._file = file

    def take(self, count: int) -> bytearray:
        """The next `count` bytes. Raises NotACheckpoint where the file ends before."""
        data = bytearray(count if count <= self.left else 0)
        if count > self.left or self._file.readinto(data) != count:
            raise NotACheckpoint(f"{self.path} is truncated")
        self.left -= count
        return data

    def number(self, form: str) -> int:
        """The next number of struct's format `form`."""
        (value,) = struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))
        return int(value)

    def text(self) -> str:
        """The next text. Raises NotACheckpoint for what is none."""
        data = self.take(self.number("H"))
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise NotACheckpoint(f"{self.path} is damaged: a name is no UTF-8") from error
        if not text.endswith("\0"):
            raise NotACheckpoint(f"{self.path} is damaged: {quote(text)} does not end")
        return text[:-1]


def _read(content: _Content) -> dict[str, Tensor]:
    _check_kind(content)
    variables: dict[str, Tensor] = {}
    for _ in range(content.number("I")):
        name = content.text()
        _refuse_twice(content, name, variables)
        variables[name] = _read_variable(content, name)
    aliases = _read_aliases(content, variables)
    if content.left:
        raise NotACheckpoint(f"{content.path} has {content.left} bytes after its end")
    found = variables | aliases
    check_claimed(content.path, content.path.stat().st_size, found)
    return found


def _check_kind(content: _Content) -> None:
    version = content.number("I")
    if version != BINARY_VERSION:
        raise CheckpointError(
            f"{content.path} has CTranslate2's version {version}; {BINARY_VERSION} is read here"
        )
    kind = content.text()
    if kind != KIND:
        raise CheckpointError(f"{content.path} holds a {quote(kind)}, not a {KIND}")
    content.number("I")  # the revision: all of them name a Whisper's weights alike


def _read_variable(content: _Content, name: str) -> Tensor:
    axes = content.number("B")
    if axes > MAX_AXES:
        raise NotACheckpoint(f"{content.path} gives {quote(name)} {axes} axes")
    shape = [content.number("I") for _ in range(axes)]
    if max(shape, default=0) > MAX_AXIS:
        raise NotACheckpoint(f"{content.path} gives {quote(name)} an axis of {max(shape)}")
    kind, size = content.number("B"), content.number("I")
    if kind >= len(TYPES):
        raise UnusableNumbers(f"{quote(name)} holds numbers of CTranslate2's type {kind}")
    if math.prod(shape) * TYPES[kind].itemsize != size:
        raise NotACheckpoint(f"{content.path} gives {quote(name)} {size} bytes for {shape}")
    data = content.take(size)
    if not data:
        return torch.empty(shape, dtype=TYPES[kind])
    return torch.frombuffer(data, dtype=TYPES[kind]).reshape(shape)


def _read_aliases(content: _Content, variables: dict[str, Tensor]) -> dict[str, Tensor]:
    """Variables by their aliases; the scale of int8 goes with its own without being named."""
    aliases: dict[str, Tensor] = {}
    for _ in range(content.number("I")):
        alias, name = content.text(), content.text()
        _refuse_twice(content, alias, variables)
        _refuse_twice(content, alias, aliases)
        if name not in variables:
            raise NotACheckpoint(f"{content.path} has no {quote(name)} for {quote(alias)}")
        aliases[alias] = variables[name]
        if f"{name}_scale" in variables:
            aliases[f"{alias}_scale"] = variables[f"{name}_scale"]
    return aliases


def _refuse_twice(content: _Content, name: str, known: dict[str, Tensor]) -> None:
    if name in known:
        raise NotACheckpoint(f"{content.path} has {quote(name)} twice")
