"""Text files of one entry on each line: symbol tables, lexicons."""

from collections.abc import Iterator
from pathlib import Path

from earshot.decoder_kernels.errors import GraphSourceError


def read_fields(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The number, from 1, and the fields of each line that is not empty.

    Raises GraphSourceError if the file cannot be read or is no UTF-8.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if fields := _decoded(line, path.name, number).split():
                    yield number, fields
    except OSError as error:
        raise GraphSourceError.unreadable(error, path.name) from error


def _decoded(line: bytes, name: str, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise GraphSourceError("is not UTF-8", name, number) from error
