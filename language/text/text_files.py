"""Text files, plain or compressed, as sentences."""

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from earshot.decoder_kernels.errors import LanguageModelError
from earshot.language.text.clean_text import sentences

LINES_PER_REPORT = 500
_OPENERS: dict[bytes, Callable[[IO[bytes]], object]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\xfd7": lzma.LZMAFile,
}
"""By the first two bytes of what gzip and xz write."""


def read_sentences(
    path: Path, *, as_is: bool = False, progress: Callable[[float], None] = lambda done: None
) -> Iterator[list[str]]:
    """The sentences of a UTF-8 text file (plain, gzip or xz), cleaned.

    With ``as_is`` each line is a sentence, and what spaces separate is a word. ``progress`` hears
    which part of the file (0 to 1) has been read. Raises LanguageModelError.
    """
    try:
        with path.open("rb") as file:
            size = max(1, path.stat().st_size)
            opener = _OPENERS.get(file.peek(2)[:2])
            lines = file if opener is None else cast(IO[bytes], opener(file))
            for number, line in enumerate(lines, start=1):
                if number % LINES_PER_REPORT == 0:
                    progress(file.tell() / size)
                text = _decoded(line, path, number)
                if not as_is:
                    yield from sentences(text)
                elif words := text.split():
                    yield words
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise LanguageModelError.unreadable(error, path.name) from error


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise LanguageModelError(f"{path.name}, line {number}: this is not UTF-8") from error
