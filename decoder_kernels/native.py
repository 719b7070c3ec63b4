"""The compiled kernels: which half serves which device.

The types here are what ``csrc/bindings`` binds: every array is a torch tensor on the half's own
device, passed through DLPack and only borrowed.
"""

import importlib
from collections.abc import Sequence
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from earshot.decoder_kernels.errors import BackendMissing
from earshot.native.dlpack import DlpackCapsule


class Launch(Protocol):
    """How kernels are started: threads per block, CPU workers, CUDA stream."""


class SearchShape(Protocol):
    """The sizes that a search is built for."""


class NativeSearch(Protocol):
    """The memory of one search; shapes as in ``csrc/prefix/prefix_search.h``."""

    def reset(self, slots: DlpackCapsule, how: Launch) -> None:
        """Start the slots over."""

    def forget_boosts(self, slots: DlpackCapsule, how: Launch) -> None:
        """Put all hypotheses of the slots at the root of their boost tables."""

    def advance(
        self,
        slots: DlpackCapsule,
        log_probs: DlpackCapsule,
        lengths: DlpackCapsule,
        status: DlpackCapsule,
        how: Launch,
    ) -> None:
        """Search all frames of a chunk."""

    def summarize(self, slots: DlpackCapsule, summary: DlpackCapsule, how: Launch) -> None:
        """Write hypotheses, frames, tokens of the longest and overflows of each slot."""

    def read_results(
        self,
        slots: DlpackCapsule,
        finalize: bool,
        tokens: DlpackCapsule,
        frames: DlpackCapsule,
        log_probs: DlpackCapsule,
        lengths: DlpackCapsule,
        scores: DlpackCapsule,
        stable: DlpackCapsule,
        how: Launch,
    ) -> None:
        """Write the best hypotheses of each slot."""


class WfstShape(Protocol):
    """The sizes that a WFST search is built for."""


class BorrowedArcs(Protocol):
    """Nodes and arcs, borrowed."""


class NativeWfst(Protocol):
    """The memory of one WFST search; shapes as in ``csrc/wfst/wfst_search.h``."""

    def reset(self, slots: DlpackCapsule, how: Launch) -> None:
        """Start the slots over."""

    def forget_boosts(self, slots: DlpackCapsule, how: Launch) -> None:
        """Give back the bonus of phrases under way, and OOV words under way up."""

    def advance(
        self,
        slots: DlpackCapsule,
        log_probs: DlpackCapsule,
        lengths: DlpackCapsule,
        status: DlpackCapsule,
        how: Launch,
    ) -> None:
        """Search all frames of a chunk."""

    def count(self, slots: DlpackCapsule, counts: DlpackCapsule, how: Launch) -> None:
        """Write frames, tokens, backpointers in use, overflows and dead ends of each slot."""

    def best(
        self,
        slots: DlpackCapsule,
        finals: DlpackCapsule,
        finalize: bool,
        summary: DlpackCapsule,
        how: Launch,
    ) -> None:
        """Write cost, words, stable words, reached final and backpointer of each slot's best."""

    def words(
        self,
        slots: DlpackCapsule,
        summary: DlpackCapsule,
        words: DlpackCapsule,
        frames: DlpackCapsule,
        how: Launch,
    ) -> None:
        """Write the words of what `best` found."""

    def gather(
        self,
        slots: DlpackCapsule,
        firsts: DlpackCapsule,
        marks: DlpackCapsule,
        marked: DlpackCapsule,
        keys: DlpackCapsule,
        costs: DlpackCapsule,
        histories: DlpackCapsule,
        backpointers: DlpackCapsule,
        reached: DlpackCapsule,
        how: Launch,
    ) -> None:
        """Write the slots' tokens and the backpointers that they reach side by side."""

    def layout(self) -> tuple[int, int, int, int]:
        """Where keys, costs, histories and backpointers begin in a slot's memory."""


class SlotBoosts(Protocol):
    """The boost tables that a slot has had (``csrc/results/slot_boosts.h``)."""

    def change(self, frame: int, links: Tensor, bonuses: Tensor) -> None:
        """Another table from a frame on."""

    def remove(self, frame: int) -> None:
        """No table from a frame on."""

    def restart(self) -> None:
        """The same table from the first frame on."""

    def earned(self, words: Sequence[int], frames: Sequence[int]) -> int:
        """What completed phrases have earned, in the search's unit."""


class ResultLane(Protocol):
    """Where a slot's records are, and how to read them (``csrc/results/slot_results.h``)."""


class NativeConfidences(Protocol):
    """How sure a lattice is of words (``csrc/results/word_confidence.h``)."""

    def of(self, words: Sequence[int], frames: Sequence[int]) -> list[float]:
        """Confidence in 0..1 of each word."""


Listed = tuple[tuple[int, ...], tuple[int, ...], int, int, bool]
"""Words, frames, cost and boost in the search's unit, reached final."""

Drawn = tuple[
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.float64],
    float,
    bool,
]
"""The fields of a `WordLattice`."""


class ResultReader(Protocol):
    """Reads the results of a search's slots on the host, whichever device has searched.

    ``memory``, on the CPU, holds the records of all lanes. None for a lane that would take too
    long.
    """

    def nbest(
        self, memory: DlpackCapsule, lanes: Sequence[ResultLane], count: int, max_steps: int = ...
    ) -> list[list[Listed] | None]:
        """Each lane's hypotheses, cheapest first."""

    def lattices(
        self, memory: DlpackCapsule, lanes: Sequence[ResultLane], max_steps: int = ...
    ) -> list[Drawn | None]:
        """Each lane's lattice."""

    def confidences(
        self, memory: DlpackCapsule, lanes: Sequence[ResultLane], scale: float, coverage: float
    ) -> list[NativeConfidences | None]:
        """How sure each lane's lattice is."""


class NativeHalf(Protocol):
    """The kernels for one kind of device.

    ``prefix_threads`` and ``wfst_threads``: of a block, where a search's config does not say.
    """

    prefix_threads: int
    wfst_threads: int

    def slot_bytes(self, shape: SearchShape) -> int:
        """Bytes of state that one slot takes."""

    def scratch_bytes(self, shape: SearchShape) -> int:
        """Bytes that one lane works in: shared memory on CUDA."""

    def PrefixSearch(
        self,
        shape: SearchShape,
        slots: Tensor,
        boost_links: Tensor,
        boost_bonuses: Tensor,
        boost_rows: Tensor,
    ) -> NativeSearch:
        """Borrow the memory of one search."""

    def wfst_slot_bytes(self, shape: WfstShape) -> int:
        """Bytes that one slot of a WFST search takes."""

    def wfst_workspace_bytes(self, shape: WfstShape) -> int:
        """Bytes that one block works in."""

    def WfstArcs(self, nodes: Tensor, labels: Tensor, arcs: Tensor) -> BorrowedArcs:
        """Borrow nodes and arcs."""

    def WfstMemory(
        self,
        *,
        shape: WfstShape,
        graph: BorrowedArcs,
        min_weight: float,
        max_weight: float,
        max_eps_words: int,
        slots: Tensor,
        workspaces: Tensor,
        options: Tensor,
        scales: Tensor,
        boost_links: Tensor,
        boost_bonuses: Tensor,
        boost_rows: Tensor,
        oov_arcs: BorrowedArcs,
        oov_rows: Tensor,
    ) -> NativeWfst:
        """Borrow the memory of one WFST search."""


class NativeModule(Protocol):
    """What both halves share."""

    def SearchShape(
        self,
        *,
        beam_size: int,
        token_beam: int,
        blank_id: int,
        vocab_size: int,
        node_capacity: int,
        boost_candidates: bool,
    ) -> SearchShape:
        """Gather the sizes that a search is built for."""

    def WfstShape(
        self,
        *,
        topology: int,
        num_nodes: int,
        start: int,
        loop_node: int,
        vocab_size: int,
        blank_id: int,
        num_levels: int,
        max_tokens: int,
        backpointer_capacity: int,
        entry_capacity: int,
        candidate_capacity: int,
    ) -> WfstShape:
        """Gather the sizes that a WFST search is built for."""

    def find_peaks(
        self,
        emissions: npt.NDArray[np.float32],
        skippable: npt.NDArray[np.uint8],
        peaks: npt.NDArray[np.int64],
    ) -> None:
        """Write the frame of each token (N,): emissions (T, S) and skippable (S,), S = 2 N + 1."""

    def ResultLane(
        self,
        *,
        keys: int,
        costs: int,
        histories: int,
        backpointers: int,
        num_tokens: int,
        num_frames: int,
        lattice_beam: int,
        graph_scale: float,
        finalize: bool,
        boosts: SlotBoosts,
    ) -> ResultLane:
        """Say where a slot's records begin, in bytes, and how they are to be read."""

    def SlotBoosts(self) -> SlotBoosts:
        """Of a slot without tables."""

    def ResultReader(self, finals: npt.NDArray[np.float32]) -> ResultReader:
        """Borrow the final costs of a graph's nodes."""

    def WordConfidences(
        self,
        *,
        frames: npt.NDArray[np.int32],
        sources: npt.NDArray[np.int32],
        targets: npt.NDArray[np.int32],
        words: npt.NDArray[np.int32],
        costs: npt.NDArray[np.float64],
        scale: float,
        coverage: float,
    ) -> NativeConfidences:
        """Of a lattice."""

    def arc_posteriors(
        self,
        *,
        frames: npt.NDArray[np.int32],
        sources: npt.NDArray[np.int32],
        targets: npt.NDArray[np.int32],
        costs: npt.NDArray[np.float64],
        scale: float,
    ) -> npt.NDArray[np.float64]:
        """The share of all paths that goes through each arc of a lattice."""

    def Launch(self, *, threads: int, workers: int, stream: int) -> Launch:
        """Say how kernels are started."""


def native_module() -> NativeModule:
    """The compiled module. Raises BackendMissing when it was not built."""
    try:
        module = importlib.import_module("earshot.decoder_kernels._native")
    except ImportError as error:
        raise BackendMissing(f"the native kernels are not built (make setup): {error}") from error
    return cast(NativeModule, module)


def native_half(device: torch.device) -> NativeHalf:
    """The kernels for tensors on this device.

    Raises BackendMissing when they were not built, or when there are none for such a device.
    """
    half = getattr(native_module(), device.type, None)
    if half is None:
        hint = " (build it where nvcc is: make gpu)" if device.type == "cuda" else ""
        raise BackendMissing(f"the native kernels have no half for {device.type!r}{hint}")
    return cast(NativeHalf, half)
