"""The dynamic OOV words of all slots, in one piece of device memory that is allocated once."""

import numpy as np
import numpy.typing as npt
import torch

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_tables import (
    MANY_WORDS,
    NODE_COLUMNS,
    WORDS_SHIFT,
    least_weights,
    word_bits,
)
from earshot.decoder_kernels.slot_spans import SlotSpans


class OovArena:
    """Rows of nodes and arcs, as many of each.

    ``nodes`` (capacity, 6) and ``arcs`` (capacity, 4) int32 and ``labels`` (capacity,) uint32 are
    what ``wfst_search.h`` calls WfstArcs; ``rows`` (num_slots, 2) int64: each slot's first
    node and first arc, -1 for none. ``kinds`` as in `WfstTables`.
    """

    def __init__(
        self,
        graph: Graph,
        kinds: npt.NDArray[np.int32],
        capacity: int,
        num_slots: int,
        device: torch.device,
    ) -> None:
        self.nodes = torch.zeros(capacity, NODE_COLUMNS, dtype=torch.int32, device=device)
        self.arcs = torch.zeros(capacity, 4, dtype=torch.int32, device=device)
        self.labels = torch.zeros(capacity, dtype=torch.uint32, device=device)
        self.rows = torch.empty(num_slots, 2, dtype=torch.int64, device=device)
        self._graph = graph
        self._end_kind = int(kinds[graph.loop_node]) if graph.loop_node >= 0 else 0
        self._spans = SlotSpans(capacity, self.rows)

    def place(self, slot: int, table: WordBoostTable) -> None:
        """Give the slot this table's words instead of those it may have.

        Raises CapacityExceeded where they do not fit; the slot is then without.
        """
        self.remove(slot)
        if not table.oov_arcs:
            return
        length = max(table.num_oov_nodes + 1, len(table.oov_arcs))
        words = f"a list of {len(table.spellings) + len(table.members)} words with {length} tokens"
        start = self._spans.take(slot, length, words)
        nodes, arcs, labels = self._columns(table)
        self.nodes[start : start + len(nodes)].copy_(nodes)
        self.arcs[start : start + len(arcs)].copy_(arcs)
        self.labels[start : start + len(arcs)].copy_(labels)

    def remove(self, slot: int) -> None:
        """Free the slot's words, if it has some."""
        self._spans.give_back(slot)

    def _columns(self, table: WordBoostTable) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Nodes (N + 1, 6), arcs (A, 4) and labels (A,); nodes are numbered after the graph's."""
        first = [0] * (table.num_oov_nodes + 1)
        for arc in table.oov_arcs:
            first[arc.source + 1] += 1
        first_arcs = torch.tensor(first).cumsum(0)
        weights = torch.tensor([arc.weight for arc in table.oov_arcs], dtype=torch.float32)
        nodes = torch.zeros(len(first), NODE_COLUMNS, dtype=torch.int32)
        nodes[:, 0] = nodes[:, 1] = first_arcs
        ends = np.full(len(weights), self._end_kind, np.int32)
        least = torch.from_numpy(least_weights(weights.numpy(), ends)).min().clamp(max=0.0)
        nodes[:, 2] = least.view(torch.int32)  # a bound for all nodes
        nodes[:, 4:] = -1  # all labels' bits, likewise
        end = self._graph.num_nodes
        arcs = torch.zeros(len(table.oov_arcs), 4, dtype=torch.int32)
        arcs[:, 0] = weights.view(torch.int32)
        arcs[:, 1] = torch.tensor(
            [end + a.target if a.target >= 0 else self._graph.loop_node for a in table.oov_arcs]
        )
        arcs[:, 2] = torch.tensor([arc.word for arc in table.oov_arcs])
        arcs[:, 3] = torch.tensor([self._end_kind if a.target < 0 else 0 for a in table.oov_arcs])
        labels = np.array([arc.label for arc in table.oov_arcs], np.uint32)
        return nodes, arcs, torch.from_numpy(labels | word_bits(self._words_of(table)))

    def _words_of(self, table: WordBoostTable) -> npt.NDArray[np.int32]:
        """How many words come with each arc (A,): its own, and behind it those of epsilon arcs."""
        behind = MANY_WORDS if self._end_kind >> WORDS_SHIFT & 1 else 0
        return np.array(
            [(arc.word != 0) + (behind if arc.target < 0 else 0) for arc in table.oov_arcs],
            np.int32,
        )
