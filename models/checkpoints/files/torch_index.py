"""Where the tensors of a foreign .pt file lie in it, for whoever reads them one by one."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from earshot.models.checkpoints.files.stored_tensors import StoredFile, StoredPlace, store
from earshot.models.checkpoints.files.torch_archive import (
    READ_ERRORS,
    OpenFile,
    check_container,
    check_state_dict,
    load_container,
)
from earshot.models.errors import NotACheckpoint

LOCAL_HEADER, NAME_LENGTH, EXTRA_LENGTH = 30, slice(26, 28), slice(28, 30)
"""Bytes before a zip's member: the fixed ones, and where they tell how many others there are."""


def index_file(path: Path) -> dict[str, Tensor]:
    """`index_state_dict` of a whole file. Raises as `read_state_dict`."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise NotACheckpoint(f"cannot read {path}: {error}") from error
    with file:
        source = OpenFile(file, str(path), path.stat().st_size)
        return index_state_dict(source, StoredFile(file, str(path)))


def index_state_dict(source: OpenFile, file: StoredFile) -> dict[str, Tensor]:
    """The name-to-tensor mapping that `read_state_dict` reads, its tensors stored in `file`.

    file: the same bytes as the source's. Of a legacy checkpoint, and of a zip whose members are
    not stored as this machine has numbers in memory, the tensors are read. Raises as
    `read_state_dict`.
    """
    check_container(source)
    members = _members(source)
    if members is None:
        return check_state_dict(source, load_container(source))
    state = check_state_dict(source, load_container(source, "meta"), "meta")
    for tensor in state.values():
        _place(source, tensor, members, file)
    return state


def _members(source: OpenFile) -> dict[int, int] | None:
    """Sizes of a zip's members by where their bytes begin; None where those are no numbers."""
    if not zipfile.is_zipfile(source.file):
        return None
    try:
        with zipfile.ZipFile(source.file) as archive:
            members = archive.infolist()
        if any(each.compress_type != zipfile.ZIP_STORED for each in members):
            return None
        if not _is_ours(source):
            return None
        return {_begin(source, each): each.file_size for each in members}
    except READ_ERRORS as error:
        raise NotACheckpoint(f"{source} is damaged or truncated") from error


def _is_ours(source: OpenFile) -> bool:
    """Whether its numbers have this machine's order of bytes.

    Torch's own reader is asked, as a file may tell another one something else: to turn the bytes of
    a tensor on "meta", torch would write to address 0.
    """
    source.file.seek(0)
    reader = torch._C.PyTorchFileReader(source.file)
    try:
        return bytes(reader.get_record("byteorder")) == sys.byteorder.encode()
    except RuntimeError:  # older files do not say: torch takes them as they are
        return True


def _begin(source: OpenFile, member: zipfile.ZipInfo) -> int:
    source.file.seek(member.header_offset)
    header = source.file.read(LOCAL_HEADER)
    lengths = (int.from_bytes(header[each], "little") for each in (NAME_LENGTH, EXTRA_LENGTH))
    return member.header_offset + LOCAL_HEADER + sum(lengths)


def _place(source: OpenFile, tensor: Tensor, members: Mapping[int, int], file: StoredFile) -> None:
    """Raises NotACheckpoint for a tensor that reaches beyond a member: its storage has grown."""
    storage = tensor.untyped_storage()
    # On "meta" torch.load tells each storage where it has found it.
    offset: int | None = getattr(storage, "_checkpoint_offset", None)
    if offset is None or members.get(offset) != storage.nbytes():
        raise NotACheckpoint(f"{source} is damaged or truncated")
    store(tensor, StoredPlace(file, offset))
