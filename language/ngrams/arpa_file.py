"""Models as ARPA files, plain or gzipped by their name, and as images of what these say."""

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Protocol, cast

import numpy as np

from earshot.decoder_kernels.errors import LanguageModelError
from earshot.decoder_kernels.lm.lm_pack import DEFAULT_MEMORY, packing
from earshot.language.ngrams.arpa import LEAST_LOG10, NATS
from earshot.language.ngrams.columns import parts
from earshot.language.ngrams.counts import Floats
from earshot.language.ngrams.levels import word_columns
from earshot.language.ngrams.model import NGramModel

LINES_PER_WRITE = 20_000
COMPRESSION = 9


class _Sink(Protocol):
    """Takes text."""

    def write(self, piece: bytes, /) -> int: ...


def write_arpa(
    path: Path, model: NGramModel, progress: Callable[[float], None] = lambda done: None
) -> None:
    """Write the model; a name that ends in ``.gz`` asks for gzip.

    An older file stays as it is until the new one is complete. The same model gives the same bytes.
    Raises LanguageModelError if it cannot be written.
    """
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}")
    try:
        try:
            with partial.open("wb") as file:
                _write(file, path.suffix == ".gz", model, progress)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise LanguageModelError.unreadable(error, str(path)) from error


def write_image(
    path: Path,
    model: NGramModel,
    progress: Callable[[float], None] = lambda done: None,
    memory: int = DEFAULT_MEMORY,
) -> None:
    """Write the model as an image: the bytes that packing its ARPA file gives.

    ``memory`` is how many bytes of n-grams are sorted at a time. Raises LmImageError if it cannot
    be written.
    """
    with packing(path, path.name, memory) as packer:
        _write_sections(packer, model, progress)


def _write(
    file: IO[bytes], zipped: bool, model: NGramModel, progress: Callable[[float], None]
) -> None:
    if not zipped:
        _write_sections(file, model, progress)
        return
    # No name and no time: they would differ from one day to the next.
    with gzip.GzipFile("", "wb", COMPRESSION, file, mtime=0) as stream:
        _write_sections(cast(IO[bytes], stream), model, progress)


def _write_sections(file: _Sink, model: NGramModel, progress: Callable[[float], None]) -> None:
    counts = (f"ngram {n}={len(level)}\n" for n, level in enumerate(model.levels) if n)
    file.write(f"\\data\\\n{''.join(counts)}".encode())
    written = 0
    for n in range(1, model.order + 1):
        file.write(f"\n\\{n}-grams:\n".encode())
        for lines in _lines(model, n):
            file.write("".join(lines).encode())
            written += len(lines)
            progress(written / model.num_ngrams)
    file.write(b"\n\\end\\\n")


def _lines(model: NGramModel, n: int) -> Iterator[list[str]]:
    """Some lines at a time."""
    for part in parts(len(model.levels[n]), LINES_PER_WRITE):
        columns, probs = word_columns(model.levels, n, part), log10(model.probs[n][part])
        yield [
            f"{prob:.7g}\t{' '.join([model.words[word] for word in words])}{back_off}\n"
            for words, prob, back_off in zip(
                columns.tolist(), probs.tolist(), _back_offs(model, n, part), strict=True
            )
        ]


def _back_offs(model: NGramModel, n: int, part: slice) -> list[str]:
    """The ends of some lines: a back-off where longer n-grams begin with this one."""
    if n == model.order:
        return [""] * (part.stop - part.start)
    contexts = model.levels[n + 1].contexts
    first, last = np.searchsorted(contexts, np.array([part.start, part.stop], np.int32))
    begins = np.zeros(part.stop - part.start, bool)
    begins[contexts[first:last] - part.start] = True
    return [
        f"\t{log:.7g}" if needed else ""
        for log, needed in zip(
            log10(model.back_offs[n][part]).tolist(), begins.tolist(), strict=True
        )
    ]


def log10(values: Floats) -> Floats:
    """Logarithms as the format has them: that of 0 is -99."""
    logs: Floats = np.full(len(values), LEAST_LOG10)
    positive = values > 0
    logs[positive] = np.log(values[positive]) / NATS
    return logs
