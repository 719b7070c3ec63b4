"""Files that lie in a tar archive, found by its headers alone: nothing of it is unpacked.

Source: POSIX.1-2008, pax, "ustar Interchange Format" and "pax Header Block"; GNU tar's long names
and large sizes. Everything else that a tar may hold (links, devices, sparse files) is refused:
NeMo writes none, and nothing good comes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from earshot.models.errors import NotACheckpoint, UnsafeCheckpoint, quote

BLOCK = 512
MAGIC_AT, MAGIC = 257, b"ustar"
MAX_MEMBERS = 512
MAX_EXTENSION_BYTES = 64 * 1024
"""Of a header that only names or describes the next one."""

FILE, DIRECTORY, PAX, GLOBAL_PAX, LONG_NAME = b"0", b"5", b"x", b"g", b"L"


@dataclass(frozen=True)
class TarMember:
    """A file within an archive: where its bytes begin there, and how many they are."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True)
class _Header:
    name: bytes
    kind: bytes
    size: int


class TarReader:
    """Headers of an archive, one after the other. `source` names it in errors."""

    def __init__(self, file: IO[bytes], archive_size: int, source: str) -> None:
        self._file, self._archive_size, self._source = file, archive_size, source
        self._members: dict[str, TarMember] = {}
        self._named: dict[str, bytes] = {}  # what extensions said of the next member

    def read(self) -> dict[str, TarMember]:
        """The archive's files by name, without a leading "./".

        Raises NotACheckpoint for what is no tar or not all of one, UnsafeCheckpoint for names that
        lead out of the archive, names given twice, links, devices, sparse files and too many.
        """
        offset, count = 0, 0
        while (header := self._header(offset)) is not None:
            count += 1
            if count > MAX_MEMBERS:
                raise UnsafeCheckpoint(f"{self._source} has more than {MAX_MEMBERS} members")
            offset = self._take(header, offset + BLOCK)
        return self._members

    def _header(self, offset: int) -> _Header | None:
        """The header there; None for the block of zeros that ends an archive."""
        block = self._bytes(offset, BLOCK)
        if not any(block):
            return None
        claimed = self._number(block[148:156])
        if sum(block[:148]) + 8 * ord(" ") + sum(block[156:]) != claimed:
            raise NotACheckpoint(f"{self._source} is no tar archive, or a damaged one")
        name = block[:100].split(b"\0")[0]
        # GNU's own magic ends in a space; it has other things where POSIX has a prefix.
        if block[MAGIC_AT : MAGIC_AT + 6] == MAGIC + b"\0" and block[345]:
            name = block[345:500].split(b"\0")[0] + b"/" + name
        kind = block[156:157].replace(b"\0", FILE)
        return _Header(name, kind, self._number(block[124:136]))

    def _take(self, header: _Header, start: int) -> int:
        """What the header announces, at `start`; where the next one lies."""
        size = header.size
        if header.kind in (PAX, GLOBAL_PAX, LONG_NAME):
            self._extend(header.kind, self._extension(start, size))
        else:
            size = self._digits(self._named["size"]) if "size" in self._named else size
            self._add(self._name(header), header.kind, start, size)
            self._named = {}
        end = start + size
        if end > self._archive_size:
            raise NotACheckpoint(f"{self._source} is damaged or truncated: a member ends beyond it")
        return end + -end % BLOCK

    def _name(self, header: _Header) -> str:
        try:
            return self._named.get("path", header.name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotACheckpoint(f"{self._source} has a member whose name is not UTF-8") from error

    def _add(self, name: str, kind: bytes, start: int, size: int) -> None:
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts:
            raise UnsafeCheckpoint(f"{self._source} has a member outside of it: {quote(name)}")
        if kind == DIRECTORY or (kind == FILE and name.endswith("/")):
            return
        if kind != FILE:
            raise UnsafeCheckpoint(
                f"{self._source} has a link, device or sparse file, {quote(name)}: only plain files"
            )
        path = "/".join(parts)
        if path in self._members:
            raise UnsafeCheckpoint(f"{self._source} has {quote(path)} twice")
        self._members[path] = TarMember(path, start, size)

    def _extension(self, start: int, size: int) -> bytes:
        if size > MAX_EXTENSION_BYTES:
            raise UnsafeCheckpoint(f"{self._source} has a header of {size} bytes")
        return self._bytes(start, size)

    def _extend(self, kind: bytes, content: bytes) -> None:
        if kind == LONG_NAME:
            self._named["path"] = content.rstrip(b"\0")
            return
        records = dict(self._records(content))
        if any(key.startswith("GNU.sparse") for key in records):
            raise UnsafeCheckpoint(f"{self._source} has a sparse file: only plain files")
        told = {key: value for key, value in records.items() if key in ("path", "size")}
        if kind == PAX:
            self._named |= told
        elif told:
            raise UnsafeCheckpoint(f"{self._source} names all of its members alike")

    def _records(self, content: bytes) -> list[tuple[str, bytes]]:
        """Keys and values of lines "<length> <key>=<value>", whose length counts all of them."""
        records = []
        while content:
            length_text, space, _ = content.partition(b" ")
            length = self._digits(length_text)
            key, equals, value = content[len(length_text) + 1 : length].partition(b"=")
            if not (space and equals and value.endswith(b"\n")) or length > len(content):
                raise NotACheckpoint(f"{self._source} has a damaged header")
            records.append((key.decode("utf-8", "replace"), value[:-1]))
            content = content[length:]
        return records

    def _number(self, field: bytes) -> int:
        """A header's number: octal digits, or after a byte 0x80 a binary one."""
        if field[0] == 0x80:
            return int.from_bytes(field[1:], "big")
        digits = field.split(b"\0")[0].strip(b" ")
        if digits.strip(b"01234567"):
            raise NotACheckpoint(f"{self._source} is no tar archive, or a damaged one")
        return int(digits or b"0", 8)

    def _digits(self, text: bytes) -> int:
        if not text.isdigit() or len(text) > 18:
            raise NotACheckpoint(f"{self._source} has a damaged header")
        return int(text)

    def _bytes(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        found = self._file.read(size)
        if len(found) < size:
            raise NotACheckpoint(f"{self._source} is damaged or truncated")
        return found
