"""Packing an ARPA file into an image, in bounded memory."""

import gzip
import hashlib
import io
import mmap
import os
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from earshot.decoder_kernels.errors import GraphSourceError, LmImageError
from earshot.decoder_kernels.lm.lm_header import LmHeader
from earshot.decoder_kernels.lm.lm_image import LmImage, block_sums
from earshot.decoder_kernels.native import kernels

DEFAULT_MEMORY = 512 << 20
"""Bytes of n-grams that are sorted at a time."""
LEAST_MEMORY = 1 << 20
PIECE_BYTES = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"


class LmPacker:
    """Takes ARPA text in pieces, as a file that is written to.

    rough: at the end, how many numbers are out of an image's range.
    """

    def __init__(self, folder: Path, source: str, memory: int = DEFAULT_MEMORY) -> None:
        self._folder = folder
        self._source = source
        self.rough = 0
        self._native = kernels.LmPacker(str(folder), max(memory, LEAST_MEMORY))

    @property
    def is_complete(self) -> bool:
        """Whether the end of the model has come; what follows is not read."""
        return self._native.is_complete

    def write(self, piece: bytes, /) -> int:
        """Take more. Raises GraphSourceError, naming the line, for what is no ARPA file."""
        self._native.feed(piece, self._source)
        return len(piece)

    def finish(self) -> Path:
        """The image's file.

        Raises GraphSourceError for text that has not ended, or has words that are no UTF-8.
        """
        path = self._folder / "image"
        packed = self._native.finish(str(path), self._source)
        with path.open("r+b") as file:
            counts = LmHeader(
                packed.order, packed.words, packed.text_bytes, tuple(packed.rows), packed.tallies,
                packed.states, packed.holes, b"",
            )  # fmt: skip
            seal(file, counts)
        self._check_texts(LmImage(path))
        self.rough = packed.clamped
        return path

    def _check_texts(self, image: LmImage) -> None:
        try:
            for word in range(image.header.words):
                image.text_of(word)
        except LmImageError as error:
            raise GraphSourceError(f"word {word} is not UTF-8", self._source) from error


def seal(file: io.BufferedRandom, counts: LmHeader) -> None:
    """Add the checksums, then the header: a file without one is no image.

    counts: all but the vocabulary's checksum, which is that of the texts in the file.
    """
    texts = counts.parts["text"]
    file.seek(texts.start)
    vocabulary = hashlib.blake2b(file.read(len(texts)), digest_size=16).digest()
    file.truncate(counts.checksums_at)
    with mmap.mmap(file.fileno(), 0) as content:
        sums = struct.pack(f"<{counts.num_blocks}I", *block_sums(content, counts))
    file.seek(counts.checksums_at)
    file.write(sums)
    file.seek(0)
    file.write(replace(counts, vocabulary=vocabulary, checksums=zlib.crc32(sums)).packed())
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def packing(path: Path, source: str, memory: int = DEFAULT_MEMORY) -> Iterator[LmPacker]:
    """A packer whose image takes the name `path` at the end, if all goes well.

    An older file stays as it is until then, and whoever has it mapped keeps it. What is needed on
    the way lies beside it. Raises LmImageError where nothing can be written.
    """
    try:
        with tempfile.TemporaryDirectory(
            prefix=f"{path.name}.partial-", dir=path.parent, ignore_cleanup_errors=True
        ) as folder:
            packer = LmPacker(Path(folder), source, memory)
            yield packer
            packer.finish().replace(path)
    except OSError as error:
        raise LmImageError(f"{path.name}: {error.strerror or error}") from error


def pack_arpa(
    source: Path,
    path: Path,
    memory: int = DEFAULT_MEMORY,
    progress: Callable[[float], None] = lambda done: None,
) -> int:
    """Pack an ARPA file, plain or gzipped; ``progress`` hears which part of it has been read.

    Returns how many numbers are out of an image's range. The same n-grams give the same bytes,
    whatever ``memory`` (bytes that are sorted at a time). Raises GraphSourceError, naming the line,
    for what is no complete ARPA file, and LmImageError where the image cannot be written.
    """
    with packing(path, source.name, memory) as packer:
        for piece, done in _pieces(source):
            packer.write(piece)
            progress(done)
            if packer.is_complete:
                break
        progress(1.0)
    return packer.rough


def _pieces(source: Path) -> Iterator[tuple[bytes, float]]:
    """Some text at a time, and which part of the file has been read by then."""
    try:
        with source.open("rb") as file:
            size = max(1, os.fstat(file.fileno()).st_size)
            zipped = file.peek(2)[:2] == GZIP_MAGIC
            stream = gzip.GzipFile(fileobj=file) if zipped else file
            while piece := stream.read(PIECE_BYTES):
                yield piece, file.tell() / size
    except (OSError, EOFError, zlib.error) as error:
        raise GraphSourceError.unreadable(error, source.name) from error
