"""Transducers as flat arrays, and OpenFst's files of them.

OpenFst writes a *vector* and a *const* form (its ``vector-fst.h`` and ``const-fst.h``); both are
read, with the standard arcs (tropical costs in float32), and const is written. A file is untrusted:
whatever its header claims is compared with its length before anything is allocated.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import GraphSourceError

Ints = npt.NDArray[np.int32]
Wide = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

MAGIC = 2125659606
SYMBOLS_MAGIC = 2125658996
HAS_INPUT_SYMBOLS, HAS_OUTPUT_SYMBOLS, IS_ALIGNED = 1, 2, 4
EXPANDED = 1  # the only property that a reader needs to be told
ALIGNMENT = 16

ARC = np.dtype([("ilabel", "<i4"), ("olabel", "<i4"), ("weight", "<f4"), ("target", "<i4")])
CONST_STATE = np.dtype(
    [("final", "<f4"), ("first", "<u4"), ("arcs", "<u4"), ("in_eps", "<u4"), ("out_eps", "<u4")]
)
STATES_PER_REPORT = 1 << 18


@dataclass(frozen=True, eq=False)
class Fst:
    """Arcs by state (CSR); labels 0 are epsilon, a final cost of +inf is none."""

    start: int
    first_arc: Wide
    ilabels: Ints
    olabels: Ints
    weights: Floats
    targets: Ints
    finals: Floats

    @property
    def num_states(self) -> int:
        """S."""
        return len(self.finals)

    @property
    def num_arcs(self) -> int:
        """A."""
        return len(self.ilabels)

    @property
    def sources(self) -> Wide:
        """(A,): the state that each arc leaves."""
        return np.repeat(np.arange(self.num_states), np.diff(self.first_arc))

    @classmethod
    def from_columns(
        cls,
        start: int,
        finals: npt.NDArray[np.floating],
        sources: npt.NDArray[np.integer],
        ilabels: npt.NDArray[np.integer],
        olabels: npt.NDArray[np.integer],
        weights: npt.NDArray[np.floating],
        targets: npt.NDArray[np.integer],
    ) -> "Fst":
        """Build it of arcs in any order; the arcs of a state keep theirs."""
        order = np.argsort(sources, kind="stable")
        first_arc = np.zeros(len(finals) + 1, np.int64)
        np.cumsum(np.bincount(sources, minlength=len(finals)), out=first_arc[1:])
        return cls(
            start,
            first_arc,
            ilabels[order].astype(np.int32),
            olabels[order].astype(np.int32),
            weights[order].astype(np.float32),
            targets[order].astype(np.int32),
            finals.astype(np.float32),
        )


def write_fst(path: Path, fst: Fst) -> None:
    """Write the const form, which OpenFst, Kaldi and kaldifst read."""
    counts = np.diff(fst.first_arc)
    states = np.zeros(fst.num_states, CONST_STATE)
    states["final"] = fst.finals
    states["first"] = fst.first_arc[:-1]
    states["arcs"] = counts
    sources = fst.sources
    states["in_eps"] = np.bincount(sources[fst.ilabels == 0], minlength=fst.num_states)
    states["out_eps"] = np.bincount(sources[fst.olabels == 0], minlength=fst.num_states)
    arcs = np.empty(fst.num_arcs, ARC)
    arcs["ilabel"], arcs["olabel"] = fst.ilabels, fst.olabels
    arcs["weight"], arcs["target"] = fst.weights, fst.targets
    header = b"".join(
        (
            struct.pack("<i", MAGIC),
            _packed("const"),
            _packed("standard"),
            struct.pack("<iiQqqq", 2, 0, EXPANDED, fst.start, fst.num_states, fst.num_arcs),
        )
    )
    with path.open("wb") as file:
        file.write(header)
        states.tofile(file)
        arcs.tofile(file)


def read_fst(path: Path, progress: Callable[[float], None] = lambda done: None) -> Fst:
    """Read either form. Raises GraphSourceError if the file is of another kind or damaged."""
    try:
        if not path.stat().st_size:
            raise GraphSourceError("is empty", path.name)
        data = np.memmap(path, np.uint8, "r")
    except OSError as error:
        raise GraphSourceError.unreadable(error, path.name) from error
    return _FstFile(path.name, data).read(progress)


class _FstFile:
    """The bytes of a file and how far they have been read."""

    def __init__(self, name: str, data: npt.NDArray[np.uint8]) -> None:
        self._name = name
        self._data = data
        self._at = 0

    def read(self, progress: Callable[[float], None]) -> Fst:
        if self._number("<i") != MAGIC:
            raise self._error("is not an OpenFst file")
        kind, arc_kind = self._text(), self._text()
        if arc_kind != "standard":
            raise self._error(f"has arcs of type {arc_kind!r}; only 'standard' can be read")
        version, flags = self._number("<i"), self._number("<i")
        self._at += 8  # properties
        start, states, arcs = self._number("<q"), self._number("<q"), self._number("<q")
        for flag in (HAS_INPUT_SYMBOLS, HAS_OUTPUT_SYMBOLS):
            if flags & flag:
                self._skip_symbols()
        if kind == "const":
            return self._const(start, states, arcs, version == 1 or bool(flags & IS_ALIGNED))
        if kind == "vector":
            return self._vector(start, progress)
        raise self._error(f"is of type {kind!r}; vector and const can be read (see fstconvert)")

    def _const(self, start: int, num_states: int, num_arcs: int, aligned: bool) -> Fst:
        states = self._array(CONST_STATE, num_states, aligned)
        arcs = self._array(ARC, num_arcs, aligned)
        if self._at != len(self._data):
            raise self._error("is damaged: it goes on after its last arc")
        counts = states["arcs"].astype(np.int64)
        first_arc = np.concatenate(([0], np.cumsum(counts)))
        if first_arc[-1] != num_arcs or (states["first"] != first_arc[:-1])[counts > 0].any():
            raise self._error("is damaged: its arcs do not follow one another")
        return self._checked(start, first_arc, arcs, states["final"])

    def _vector(self, start: int, progress: Callable[[float], None]) -> Fst:
        """States lie between their arcs: a walk over the states finds the arcs."""
        if (len(self._data) - self._at) % 4:
            raise self._error("is cut off")
        words = np.frombuffer(self._data, "<i4", offset=self._at)
        low = self._data.data[self._at :].cast("i")
        heads: list[int] = []
        at, end = 0, len(words)
        while at < end:
            # A state: its final cost, the number of its arcs in 64 bits, the arcs.
            if at + 3 > end or low[at + 1] < 0 or low[at + 2]:
                raise self._error("is damaged or cut off")
            heads.append(at)
            at += 3 + 4 * low[at + 1]
            if len(heads) % STATES_PER_REPORT == 0:
                progress(at / end)
        if at != end:
            raise self._error("is cut off")
        states = np.array(heads, np.int64)
        counts = words[states + 1].astype(np.int64) if heads else states
        is_arc = np.ones(end, bool)
        for offset in range(3):
            is_arc[states + offset] = False
        arcs = words[is_arc].view(ARC)
        finals = words[states].view("<f4")
        return self._checked(start, np.concatenate(([0], np.cumsum(counts))), arcs, finals)

    def _checked(
        self, start: int, first_arc: Wide, arcs: npt.NDArray[np.void], finals: Floats
    ) -> Fst:
        states = len(finals)
        if not 0 <= start < states:
            raise self._error("is empty: it has no start state")
        fst = Fst(
            start,
            first_arc,
            np.ascontiguousarray(arcs["ilabel"]),
            np.ascontiguousarray(arcs["olabel"]),
            np.ascontiguousarray(arcs["weight"]),
            np.ascontiguousarray(arcs["target"]),
            np.ascontiguousarray(finals),
        )
        for array, end in (
            (fst.ilabels, 1 << 31),
            (fst.olabels, 1 << 31),
            (fst.targets, states),
        ):
            if fst.num_arcs and not (array.min() >= 0 and int(array.max()) < end):
                raise self._error("is damaged: a label or a state of an arc does not exist")
        return fst

    def _array(self, dtype: np.dtype[np.void], count: int, aligned: bool) -> npt.NDArray[np.void]:
        if aligned:
            self._at += -self._at % ALIGNMENT
        if count < 0 or count * dtype.itemsize > len(self._data) - self._at:
            raise self._error("is cut off")
        array = np.frombuffer(self._data, dtype, count, self._at)
        self._at += count * dtype.itemsize
        return array

    def _skip_symbols(self) -> None:
        if self._number("<i") != SYMBOLS_MAGIC:
            raise self._error("is damaged: its symbols are none")
        self._text()
        self._at += 8
        for _ in range(self._number("<q")):
            self._text()
            self._at += 8

    def _text(self) -> str:
        length = self._number("<i")
        if not 0 <= length <= len(self._data) - self._at:
            raise self._error("is damaged or cut off")
        self._at += length
        return self._data[self._at - length : self._at].tobytes().decode(errors="replace")

    def _number(self, form: str) -> int:
        size = struct.calcsize(form)
        if self._at + size > len(self._data):
            raise self._error("is cut off")
        (number,) = struct.unpack_from(form, self._data.data, self._at)
        self._at += size
        return int(number)

    def _error(self, message: str) -> GraphSourceError:
        return GraphSourceError(message, self._name)


def _packed(text: str) -> bytes:
    return struct.pack("<i", len(text)) + text.encode()
