"""What a slot of a search has found, read in plain Python: for comparison with its own answers."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from boost_walk import BoostWalk
from results_oracle.lattice import word_lattice
from results_oracle.nbest import BACKPOINTER, BackpointerWalk, Ranked

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.graph.wfst_key import CONTEXT_MASK, NODE_SHIFT
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, fixed
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch


class SlotOracle:
    """The results of a slot, which has these options and this boost table.

    Raises TooManyHistories where the search gives up.
    """

    def __init__(
        self, search: WfstSearch, slot: int, options: WfstOptions, table: WordBoostTable | None
    ) -> None:
        chosen = torch.tensor([slot], device=search.device)
        counts = search._counts(chosen).tolist()
        self._num_frames, tokens = counts[0][:2]
        memory, [places] = search._memory.records(chosen, counts, search._lanes.launch())
        flat = memory.numpy().reshape(-1)

        def part(start: int, dtype: Any, count: int) -> npt.NDArray[Any]:
            return flat[start : start + count * np.dtype(dtype).itemsize].view(dtype)

        self._keys = part(places.keys, np.uint64, tokens)
        self._costs = part(places.costs, np.int64, tokens)
        self._histories = part(places.histories, np.int32, tokens)
        at_most = (len(flat) - places.backpointers) // BACKPOINTER.itemsize
        self._backpointers = part(places.backpointers, BACKPOINTER, at_most)
        self._finals = search.graph.finals
        self._options = options
        self._automaton = BoostWalk(None if table is None else table.automaton)

    def nbest(self, n: int, *, finalize: bool) -> list[Ranked]:
        """Up to ``n`` distinct sequences of words, cheapest first."""
        found: list[Ranked] = []
        if n < 1:
            return found
        ends, _ = self.ends(finalize)
        limit = min(cost for cost, _ in ends) + self._options.fixed_beams[1]
        for ranked in BackpointerWalk(self._backpointers, self._histories).ranked(ends, limit):
            found.append(ranked)
            if len(found) == n:
                break
        return found

    def lattice(self, *, finalize: bool) -> WordLattice:
        """All of them as a graph of words."""
        ends, reached = self.ends(finalize)
        results = [(cost, int(self._histories[token])) for cost, token in ends]
        beam = self._options.fixed_beams[1]
        return word_lattice(
            self._backpointers, results, self._num_frames, beam, reached_final=reached
        )

    def ends(self, finalize: bool) -> tuple[list[tuple[int, int]], bool]:
        """``(cost, token)`` of each token as a result, and whether they are at final nodes."""
        order = np.argsort(self._keys, kind="stable")
        found = [
            (
                int(self._costs[i])
                + fixed(self._automaton.pending(int(self._keys[i]) & CONTEXT_MASK)),
                int(i),
            )
            for i in order
        ]
        if not finalize:
            return found, False
        nodes = (self._keys >> np.uint64(NODE_SHIFT)).astype(np.int64)
        scale = self._options.graph_scale
        final = [
            (cost + fixed(float(self._finals[nodes[i]]) * scale), i)
            for cost, i in found
            if nodes[i] < len(self._finals) and self._finals[nodes[i]] != math.inf
        ]
        return (final, True) if final else (found, False)
