"""A teacher's frames on disk in half precision: computed when first asked for, then read.

The file has room for all recordings from the start, and holes (of no size) where none are yet. A
checksum beside each recording's place says that its frames are there and whole, so that a run which
was killed goes on with what it had.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from earshot.training.corpus.utterance import Utterance
from earshot.training.data.row_cache import as_it_is
from earshot.training.errors import CorpusError
from earshot.training.files.output_folder import make_folder

INDEX_FILE, FRAMES_FILE, SUMS_FILE = "index.json", "frames.bin", "sums.bin"
ABSENT = 0


class KeptFrames:
    """Frames `(T, D)` of each of many recordings, by number, in `folder`.

    lengths: their numbers of frames. made_by: a checksum of whatever else they depend on; where
    that or a recording has changed, all begin anew. Raises CorpusError for a recording that is
    missing, or where the disk has no room for all of them.
    """

    def __init__(
        self,
        folder: Path,
        utterances: Sequence[Utterance],
        lengths: Sequence[int],
        size: int,
        made_by: str,
    ) -> None:
        self._starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        shape = (int(self._starts[-1]), size)
        self._open(folder, utterances, made_by, shape)
        self._frames: npt.NDArray[np.float16] = np.memmap(
            folder / FRAMES_FILE, np.float16, "r+", shape=shape
        )
        self._sums: npt.NDArray[np.uint32] = np.memmap(
            folder / SUMS_FILE, np.uint32, "r+", shape=(len(lengths),)
        )

    def __len__(self) -> int:
        return len(self._sums)

    @property
    def there(self) -> int:
        """How many recordings have their frames."""
        return int(np.count_nonzero(self._sums))

    def frames(self, index: int, compute: Callable[[], Tensor]) -> Tensor:
        """Frames `(T, D)` of recording `index`, float16; what `compute` gives, if not there yet.

        They are the same to the bit, whether they were there or not.
        """
        rows = self._frames[self._starts[index] : self._starts[index + 1]]
        if self._sums[index] == ABSENT or _checksum(rows) != self._sums[index]:
            self._sums[index] = ABSENT
            rows[:] = compute().cpu().to(torch.float16).numpy()
            self._sums[index] = _checksum(rows)
        return torch.from_numpy(np.array(rows))

    def _open(
        self, folder: Path, utterances: Sequence[Utterance], made_by: str, shape: tuple[int, int]
    ) -> None:
        """Makes the files, unless they are those of exactly these recordings."""
        recordings = [as_it_is(each.path) for each in utterances]
        wanted = {"recordings": recordings, "shape": list(shape), "made_by": made_by}
        sizes = {FRAMES_FILE: 2 * shape[0] * shape[1], SUMS_FILE: 4 * len(utterances)}
        if _is_of(folder, wanted, sizes):
            return
        make_folder(folder)
        for name in (INDEX_FILE, *sizes):
            (folder / name).unlink(missing_ok=True)
        if sum(sizes.values()) > shutil.disk_usage(folder).free:
            raise CorpusError(
                f"{folder} has no room for {sum(sizes.values()) / 1e9:.1f} GB of a teacher's "
                "frames: [distil] keep_frames = false computes them for every batch"
            )
        for name, size in sizes.items():
            with (folder / name).open("wb") as output:
                output.truncate(size)
        (folder / INDEX_FILE).write_text(json.dumps(wanted), encoding="utf-8")


def _is_of(folder: Path, wanted: dict[str, Any], sizes: dict[str, int]) -> bool:
    try:
        there = json.loads((folder / INDEX_FILE).read_text(encoding="utf-8"))
        whole = all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError):
        return False
    return whole and bool(there == wanted)


def _checksum(rows: npt.NDArray[np.float16]) -> int:
    """Never ABSENT."""
    return zlib.crc32(rows.tobytes()) | 1
