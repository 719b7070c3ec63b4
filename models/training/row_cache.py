"""Rows of numbers for each of many recordings, in one memory-mapped file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tqdm import tqdm

from models.training.corpus import Utterance

INDEX_FILE, ROWS_FILE = "index.json", "rows.bin"
AT_ONCE = 256  # recordings in memory while a cache is built
Rows = npt.NDArray[Any]


class RowCache:
    """Random access to the rows of a list of recordings."""

    def __init__(self, folder: Path) -> None:
        index = json.loads((folder / INDEX_FILE).read_text(encoding="utf-8"))
        self.paths: list[str] = index["paths"]
        self.file = folder / ROWS_FILE
        self.dtype = np.dtype(index["dtype"])
        self.starts = np.concatenate(([0], np.cumsum(index["lengths"]))).astype(np.int64)
        shape = (int(self.starts[-1]), *index["row_shape"])
        self._rows: Rows = np.empty(shape, self.dtype)
        if self._rows.size:  # an empty file cannot be mapped
            self._rows = np.memmap(self.file, dtype=self.dtype, mode="r", shape=shape)

    def __len__(self) -> int:
        return len(self.paths)

    def length(self, index: int) -> int:
        """Rows of recording `index`."""
        return int(self.starts[index + 1] - self.starts[index])

    def rows(self, index: int) -> Rows:
        """Rows of recording `index`, not to be written to."""
        return self._rows[self.starts[index] : self.starts[index + 1]]


def holds(folder: Path, utterances: Sequence[Utterance], dtype: npt.DTypeLike) -> bool:
    """Whether the cache in `folder` is of exactly these recordings."""
    if not (folder / INDEX_FILE).is_file():
        return False
    index = json.loads((folder / INDEX_FILE).read_text(encoding="utf-8"))
    paths = [str(utterance.path) for utterance in utterances]
    return bool(index.get("dtype") == np.dtype(dtype).name and index["paths"] == paths)


def build_row_cache(
    folder: Path,
    utterances: Sequence[Utterance],
    dtype: npt.DTypeLike,
    row_shape: tuple[int, ...],
    read: Callable[[Utterance], Rows],
) -> None:
    """Writes the cache of what `read` gives for each recording, unless it is there.

    As many threads as torch has read at once.
    """
    if holds(folder, utterances, dtype):
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / INDEX_FILE).unlink(missing_ok=True)
    lengths: list[int] = []
    with (folder / ROWS_FILE).open("wb") as output:
        for rows in _read_all(folder.name, utterances, read):
            output.write(rows.astype(dtype).tobytes())
            lengths.append(len(rows))
    index = {
        "paths": [str(utterance.path) for utterance in utterances],
        "lengths": lengths,
        "dtype": np.dtype(dtype).name,
        "row_shape": row_shape,
    }
    (folder / INDEX_FILE).write_text(json.dumps(index), encoding="utf-8")


def _read_all(
    name: str, utterances: Sequence[Utterance], read: Callable[[Utterance], Rows]
) -> Iterator[Rows]:
    bar = tqdm(total=len(utterances), desc=f"reading {name}", unit="file")
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        for first in range(0, len(utterances), AT_ONCE):
            for rows in pool.map(read, utterances[first : first + AT_ONCE]):
                yield rows
                bar.update()
    bar.close()
