"""Backpointers without a search, and what the native code reads out of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from hypothesis import strategies as st
from results_oracle.nbest import BACKPOINTER

from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice
from earshot.native.dlpack import dlpack_capsule

MAX_STEPS = 1 << 20


@dataclass(frozen=True)
class Table:
    """Backpointers, results by ``(cost, backpointer)``, and after how many frames."""

    backpointers: npt.NDArray[np.void]
    ends: Sequence[tuple[int, int]]
    num_frames: int

    def nbest(self, beam: int, n: int, max_steps: int = MAX_STEPS) -> list[tuple] | None:
        """As `WfstSearch.nbest`, with a beam in the search's unit."""
        [found] = self._asked("nbest", beam, n, max_steps)
        return found

    def lattice(self, beam: int, max_steps: int = MAX_STEPS) -> WordLattice | None:
        """As `WfstSearch.lattices`."""
        [found] = self._asked("lattices", beam, max_steps)
        return None if found is None else WordLattice(*found)

    def confidences(
        self, beam: int, scale: float, coverage: float
    ) -> kernels.WordConfidences | None:
        """As `WfstSearch.confidences`."""
        [found] = self._asked("confidences", beam, scale, coverage)
        return found

    def _asked(self, what: str, beam: int, *how: Any) -> list[Any]:
        costs, histories = (np.array(column) for column in zip(*self.ends, strict=True))
        columns = [
            np.arange(len(self.ends), dtype=np.uint64),
            costs.astype(np.int64),
            self.backpointers,
            histories.astype(np.int32),
        ]
        starts = np.cumsum([0, *(column.nbytes for column in columns)]).tolist()
        memory = np.frombuffer(b"".join(map(bytes, columns)), np.uint8)
        lane = kernels.ResultLane(
            keys=starts[0],
            costs=starts[1],
            backpointers=starts[2],
            histories=starts[3],
            num_tokens=len(self.ends),
            num_frames=self.num_frames,
            lattice_beam=beam,
            graph_scale=1.0,
            finalize=False,
            boosts=kernels.SlotBoosts(),
        )
        reader = kernels.ResultReader(np.zeros(1, np.float32))
        read = getattr(reader, what)
        return list(read(dlpack_capsule(torch.tensor(memory)[None]), [lane], *how))


Row = tuple[int, int, int, int, int]


def table_of(rows: Sequence[Row], ends: Sequence[tuple[int, int]], num_frames: int) -> Table:
    """Of backpointers by their fields."""
    return Table(np.array(rows, dtype=BACKPOINTER), ends, num_frames)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Words after words, and merges of what came before; many cost the same."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    unit = draw(st.sampled_from([1, 1 << 20, 1 << 23]))
    words, dearest = draw(st.sampled_from([1, 3, 12, 60])), draw(st.sampled_from([0, 2, 9]))
    ways, width = draw(st.sampled_from([1, 2, 4, 40])), draw(st.integers(1, 3))
    rows: list[Row] = []
    newest = [-1] * width
    steps = draw(st.integers(0, 12))
    for frame in range(steps):
        before, newest = newest, []
        for _ in range(width):
            last = -2
            for _ in range(int(rng.integers(1, ways + 1))):
                said = int(rng.integers(1, words + 1))
                rows.append((before[int(rng.integers(width))], frame, said, 0, 0))
                word, last = len(rows) - 1, last if last > -2 else len(rows) - 1
                if word != last:
                    rows.append((last, word, 0, 0, int(rng.integers(0, dearest + 1)) * unit))
                    last = len(rows) - 1
            newest.append(last)
    ends = [
        (int(rng.integers(0, 4)) * unit, int(rng.integers(-1, len(rows))))
        for _ in range(draw(st.integers(0, 4)))
    ]
    return table_of(rows, [*ends, *((0, each) for each in newest)], steps + 1)
