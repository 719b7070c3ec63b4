"""Reading a foreign .pt file without running its code or trusting its sizes."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

import torch
from torch import Tensor

from earshot.models.checkpoints.files.claimed_memory import check_claimed
from earshot.models.errors import NotACheckpoint, UnsafeCheckpoint, quote

# What torch.save wrote before it wrote zips: protocol 2 and torch's magic number.
LEGACY_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
MAX_FILE_BYTES = 16 * 1024**3
READ_BYTES = 1 << 20
# What the unpickler and the tensor rebuilders raise on damaged input.
READ_ERRORS = (
    pickle.UnpicklingError,
    zipfile.BadZipFile,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
    MemoryError,
)
# How torch words its refusal of names that are not tensors, in lower case.
REFUSALS = ("unsupported global", "allowlisted", "unrecognized function")


@dataclass(frozen=True)
class OpenFile:
    """A checkpoint within another file: a seekable part of it, its name for errors, its bytes."""

    file: IO[bytes]
    name: str
    size: int

    def __str__(self) -> str:
        return self.name


Source: TypeAlias = Path | OpenFile


def read_state_dict(source: Source) -> dict[str, Tensor]:
    """The flat name-to-tensor mapping of a zip or legacy checkpoint, on the CPU.

    Raises as `read_archive` and `check_state_dict` do.
    """
    return check_state_dict(source, read_archive(source))


def read_archive(source: Source) -> object:
    """Whatever a zip or legacy checkpoint holds, its tensors on the CPU and not checked yet.

    Raises NotACheckpoint for anything that is none (missing, garbage, truncated, a zip of other
    things) and UnsafeCheckpoint for what would run code or take far more memory than its file.
    """
    if isinstance(source, OpenFile):
        return _read_open(source)
    try:
        file = source.open("rb")
    except OSError as error:
        raise NotACheckpoint(f"cannot read {source}: {error}") from error
    with file:
        return _read_open(OpenFile(file, str(source), source.stat().st_size))


def _read_open(source: OpenFile) -> object:
    check_container(source)
    return load_container(source)


def load_container(source: OpenFile, device: str = "cpu") -> object:
    """What a checkpoint that was checked holds; on "meta" the shapes of its tensors alone.

    Raises NotACheckpoint and UnsafeCheckpoint.
    """
    source.file.seek(0)
    try:
        return torch.load(source.file, map_location=device, weights_only=True)
    except READ_ERRORS as error:
        raise _explain(source, error) from error


def check_container(source: OpenFile) -> None:
    """Raises NotACheckpoint for what is no checkpoint, or not all of one.

    Raises UnsafeCheckpoint for one that is too large, or would unpack to more than it is.
    """
    try:
        source.file.seek(0)
        start = source.file.read(len(LEGACY_MAGIC))
    except OSError as error:
        raise NotACheckpoint(f"cannot read {source}: {error}") from error
    if source.size > MAX_FILE_BYTES:
        raise UnsafeCheckpoint(f"{source} is {source.size} bytes; no model of ours is that large")
    if start.startswith(b"PK"):
        _check_zip(source)
    elif start != LEGACY_MAGIC:
        raise NotACheckpoint(f"{source} is not a PyTorch checkpoint")


def _check_zip(source: OpenFile) -> None:
    """A checkpoint's archive holds a data.pkl, stores its members uncompressed, and is whole."""
    try:
        with zipfile.ZipFile(source.file) as archive:
            _check_members(source, archive.infolist())
            _read_through(archive)
    except READ_ERRORS as error:
        raise NotACheckpoint(f"{source} is a damaged or truncated archive: {error}") from error


def _check_members(source: OpenFile, members: Sequence[zipfile.ZipInfo]) -> None:
    if not any(member.filename.endswith("data.pkl") for member in members):
        raise NotACheckpoint(f"{source} is a zip archive, but not of a PyTorch checkpoint")
    if sum(member.file_size for member in members) > source.size:
        raise UnsafeCheckpoint(f"{source} would unpack to more than its own size")


def _read_through(archive: zipfile.ZipFile) -> None:
    """Raises BadZipFile where a member is not what its checksum says: torch does not look.

    Members without a checksum, as torch writes them when asked to, are passed over.
    """
    for member in archive.infolist():
        if member.CRC:
            with archive.open(member) as content:
                while content.read(READ_BYTES):
                    pass


def _explain(source: Source, error: BaseException) -> NotACheckpoint | UnsafeCheckpoint:
    """Our own words: torch's advise to load the file with its code."""
    message = str(error).lower()
    if isinstance(error, MemoryError) or any(refusal in message for refusal in REFUSALS):
        return UnsafeCheckpoint(f"{source} was refused: it asks for more than tensors")
    return NotACheckpoint(f"{source} is damaged or truncated")


def check_state_dict(source: Source, content: object, device: str = "cpu") -> dict[str, Tensor]:
    """The flat name-to-tensor mapping that `content`, read from `source`, should be.

    device: that it was read to, "meta" for shapes alone.

    Raises NotACheckpoint for anything else, UnsafeCheckpoint for tensors that claim far more
    memory than their file.
    """
    if not isinstance(content, Mapping) or not content:
        raise NotACheckpoint(f"{source} holds no mapping of names to tensors")
    wrong = [key for key, value in content.items() if not _is_plain(key, value, device)]
    if wrong:
        raise NotACheckpoint(
            f"{source} holds something other than a dense tensor at {quote(wrong[0])}"
        )
    state = {key: tensor.detach() for key, tensor in content.items()}
    size = source.size if isinstance(source, OpenFile) else source.stat().st_size
    check_claimed(source, size, state)
    return state


def _is_plain(key: object, value: object, device: str) -> bool:
    return (
        isinstance(key, str)
        and isinstance(value, Tensor)
        and value.layout == torch.strided
        and value.device.type == device  # and not "meta" where that was not asked for
        and not value.is_nested
        and not value.is_quantized
        and not value.is_complex()
    )
