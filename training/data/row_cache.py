"""Rows of numbers for each of many recordings, in one memory-mapped file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from earshot.training.corpus.utterance import Utterance
from earshot.training.errors import CorpusError
from earshot.training.files.output_folder import make_folder
from earshot.training.progress_bar import progress_bar

INDEX_FILE, ROWS_FILE = "index.json", "rows.bin"
AT_ONCE = 256  # recordings in memory while a cache is built
Rows = npt.NDArray[Any]


class RowCache:
    """Random access to the rows of a list of recordings."""

    def __init__(self, folder: Path) -> None:
        index = json.loads((folder / INDEX_FILE).read_text(encoding="utf-8"))
        self.file = folder / ROWS_FILE
        self.dtype = np.dtype(index["dtype"])
        self.starts = np.concatenate(([0], np.cumsum(index["lengths"]))).astype(np.int64)
        shape = (int(self.starts[-1]), *index["row_shape"])
        self._rows: Rows = np.empty(shape, self.dtype)
        if self._rows.size:  # an empty file cannot be mapped
            self._rows = np.memmap(self.file, dtype=self.dtype, mode="r", shape=shape)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def length(self, index: int) -> int:
        """Rows of recording `index`."""
        return int(self.starts[index + 1] - self.starts[index])

    def rows(self, index: int) -> Rows:
        """Rows of recording `index`, not to be written to."""
        return self._rows[self.starts[index] : self.starts[index + 1]]


def build_row_cache(
    folder: Path,
    utterances: Sequence[Utterance],
    dtype: npt.DTypeLike,
    row_shape: tuple[int, ...],
    read: Callable[[Utterance], Rows],
) -> None:
    """Writes the cache of what `read` gives for each recording, unless it is there.

    It is made anew where recordings have changed since, and where it is damaged. As many threads as
    torch has read at once. Raises CorpusError for a recording that is missing, or gives no
    finite numbers.
    """
    kind = {"dtype": np.dtype(dtype).name, "row_shape": list(row_shape)}
    wanted = {"recordings": [as_it_is(each.path) for each in utterances], **kind}
    if _holds(folder, wanted):
        return
    make_folder(folder)
    (folder / INDEX_FILE).unlink(missing_ok=True)
    lengths: list[int] = []
    with (folder / ROWS_FILE).open("wb") as output:
        for rows in _read_all(folder.name, utterances, read):
            output.write(rows.astype(dtype).tobytes())
            lengths.append(len(rows))
    index = {**wanted, "lengths": lengths}
    (folder / INDEX_FILE).write_text(json.dumps(index), encoding="utf-8")


def as_it_is(path: Path) -> list[str | int]:
    """Path, bytes and time of change: what is made again has its old name, but not all three."""
    try:
        found = path.stat()
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror}") from error
    return [str(path), found.st_size, found.st_mtime_ns]


def _holds(folder: Path, wanted: Mapping[str, Any]) -> bool:
    """Whether the cache in `folder` is of exactly these recordings, and whole."""
    try:
        index = json.loads((folder / INDEX_FILE).read_text(encoding="utf-8"))
        size = (folder / ROWS_FILE).stat().st_size
        values = math.prod(wanted["row_shape"], start=sum(index["lengths"]))
        whole = size == values * np.dtype(wanted["dtype"]).itemsize
        return whole and all(index[key] == value for key, value in wanted.items())
    except (OSError, ValueError, TypeError, LookupError):
        return False


def _read_all(
    name: str, utterances: Sequence[Utterance], read: Callable[[Utterance], Rows]
) -> Iterator[Rows]:
    bar = progress_bar(total=len(utterances), desc=f"reading {name}", unit="file")
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        for first in range(0, len(utterances), AT_ONCE):
            some = utterances[first : first + AT_ONCE]
            for utterance, rows in zip(some, pool.map(read, some), strict=True):
                if not np.isfinite(rows).all():
                    raise CorpusError(f"{utterance.path} is too loud to have features")
                yield rows
                bar.update()
    bar.close()
