# Generated: make stubs.
"""The CPU half."""

from collections.abc import Sequence
from typing import Annotated

import earshot.decoder_kernels._native
from earshot.native.dlpack import Lendable

prefix_threads: int = 1

def slot_bytes(shape: earshot.decoder_kernels._native.SearchShape) -> int:
    """Bytes of state that one slot takes."""

def scratch_bytes(shape: earshot.decoder_kernels._native.SearchShape) -> int:
    """Bytes that one lane works in: shared memory on CUDA."""

class PrefixSearch:
    """The memory of one search, borrowed from its owner."""

    def __init__(
        self,
        shape: earshot.decoder_kernels._native.SearchShape,
        slots: Annotated[
            Lendable, dict(dtype="uint8", shape=(None, None), order="C", device="cpu")
        ],
        boost_links: Annotated[
            Lendable,
            dict(dtype="int32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        boost_bonuses: Annotated[
            Lendable,
            dict(dtype="float64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        boost_rows: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def reset(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """Start the slots over."""

    def forget_boosts(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """Put all hypotheses of the slots at the root of their boost tables."""

    def advance(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        log_probs: Annotated[
            Lendable,
            dict(
                dtype="float32", shape=(None, None, None), order="C", device="cpu", writable=False
            ),
        ],
        lengths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        status: Annotated[Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu")],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """Search all frames of a chunk."""

    def summarize(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        summary: Annotated[
            Lendable, dict(dtype="int64", shape=(None, None), order="C", device="cpu")
        ],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """
        Write hypotheses, frames, tokens of the longest and overflows of each slot.
        """

    def read_results(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        finalize: bool,
        tokens: Annotated[
            Lendable, dict(dtype="int32", shape=(None, None, None), order="C", device="cpu")
        ],
        frames: Annotated[
            Lendable, dict(dtype="int32", shape=(None, None, None), order="C", device="cpu")
        ],
        log_probs: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None, None), order="C", device="cpu")
        ],
        lengths: Annotated[
            Lendable, dict(dtype="int32", shape=(None, None), order="C", device="cpu")
        ],
        scores: Annotated[
            Lendable, dict(dtype="float64", shape=(None, None, None), order="C", device="cpu")
        ],
        stable: Annotated[Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu")],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """Write the best hypotheses of each slot."""

wfst_threads: int = 1

def wfst_slot_bytes(shape: earshot.decoder_kernels._native.WfstShape) -> int:
    """Bytes that one slot takes."""

def wfst_workspace_bytes(shape: earshot.decoder_kernels._native.WfstShape) -> int:
    """Bytes that one block works in."""

class PlacedLm:
    """A model where the kernels of this half read it."""

    def __init__(
        self,
        model: earshot.decoder_kernels._native.NumberedLm,
        numbers: Annotated[
            Lendable, dict(dtype="uint32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        content: Annotated[
            Lendable, dict(dtype="uint8", shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
    ) -> None: ...
    @property
    def is_copied(self) -> bool:
        """
        Whether the device reads a copy, as it did not take the image where it lies.
        """

lm_row_bytes: int = 936

def placed_row(
    lm: earshot.decoder_kernels._native.SearchLm,
    small: PlacedLm,
    large: Sequence[PlacedLm],
    members: Annotated[
        Lendable, dict(dtype="int64", shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> bytes:
    """What kernels read of a search's models."""

class WfstArcs:
    """Nodes and arcs, borrowed from their owner."""

    def __init__(
        self,
        nodes: Annotated[
            Lendable,
            dict(dtype="int32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        labels: Annotated[
            Lendable, dict(dtype="uint32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        arcs: Annotated[
            Lendable,
            dict(dtype="int32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> None: ...

class WfstMemory:
    """The memory of one search, borrowed from its owner."""

    def __init__(
        self,
        *,
        shape: earshot.decoder_kernels._native.WfstShape,
        graph: WfstArcs,
        min_weight: float,
        max_weight: float,
        max_eps_words: int,
        max_arc_words: int,
        slots: Annotated[
            Lendable, dict(dtype="uint8", shape=(None, None), order="C", device="cpu")
        ],
        workspaces: Annotated[
            Lendable, dict(dtype="uint8", shape=(None, None), order="C", device="cpu")
        ],
        options: Annotated[
            Lendable,
            dict(dtype="int64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        scales: Annotated[
            Lendable,
            dict(dtype="float64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        boost_links: Annotated[
            Lendable,
            dict(dtype="int32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        boost_bonuses: Annotated[
            Lendable,
            dict(dtype="float64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        boost_rows: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        oov_arcs: WfstArcs,
        oov_rows: Annotated[
            Lendable,
            dict(dtype="int64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        lms: Annotated[
            Lendable,
            dict(dtype="uint8", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        lm_cache: Annotated[Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu")],
    ) -> None: ...
    def reset(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """Start the slots over."""

    def forget_boosts(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """Give back the bonus of phrases under way, and OOV words under way up."""

    def change_lm(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """Go on with the language models that the slots' rows have now, or none."""

    def advance(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        log_probs: Annotated[
            Lendable,
            dict(
                dtype="float32", shape=(None, None, None), order="C", device="cpu", writable=False
            ),
        ],
        lengths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        status: Annotated[Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu")],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """Search all frames of a chunk."""

    def count(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[
            Lendable, dict(dtype="int64", shape=(None, None), order="C", device="cpu")
        ],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """
        Write frames, tokens, backpointers in use, overflows and dead ends of each slot.
        """

    def best(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        finals: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        finalize: bool,
        summary: Annotated[
            Lendable, dict(dtype="int64", shape=(None, None), order="C", device="cpu")
        ],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """
        Write cost, words, stable words, reached final and backpointer of each slot's best.
        """

    def words(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        summary: Annotated[
            Lendable,
            dict(dtype="int64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        words: Annotated[
            Lendable, dict(dtype="int32", shape=(None, None), order="C", device="cpu")
        ],
        frames: Annotated[
            Lendable, dict(dtype="int32", shape=(None, None), order="C", device="cpu")
        ],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """Write the words of what `best` found."""

    def gather(
        self,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        firsts: Annotated[
            Lendable,
            dict(dtype="int64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        marks: Annotated[
            Lendable, dict(dtype="int32", shape=(None, None), order="C", device="cpu")
        ],
        marked: Annotated[Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu")],
        keys: Annotated[Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu")],
        costs: Annotated[Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu")],
        words: Annotated[Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu")],
        histories: Annotated[Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu")],
        backpointers: Annotated[
            Lendable, dict(dtype="int64", shape=(None, None), order="C", device="cpu")
        ],
        reached: Annotated[Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu")],
        how: earshot.decoder_kernels._native.Launch,
    ) -> None:
        """
        Write the slots' tokens and the backpointers that they reach side by side.
        """

    def layout(self) -> tuple[int, int, int, int, int]:
        """
        Where keys, costs, histories, backpointers and words begin in a slot's memory.
        """
