"""The device memory of a WFST search: the graph, slots, workspaces, options and boosts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from torch import Tensor

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.boosting.boost_arena import BoostArena
from earshot.decoder_kernels.boosting.oov_arena import OovArena
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.errors import CapacityExceeded, InvalidConfig
from earshot.decoder_kernels.graph.graph import TOPOLOGIES, Graph
from earshot.decoder_kernels.graph.wfst_options import FRACTION_BITS, WfstOptions
from earshot.decoder_kernels.graph.wfst_tables import WfstTables
from earshot.decoder_kernels.native import kernels, native_half
from earshot.decoder_kernels.wfst.search_lm import NO_MEMBERS, Members, SearchLm
from earshot.native.dlpack import dlpack_capsule

MAX_BLOCK_THREADS = 256  # as in csrc/block/block_cuda.h
MAX_CAPACITY = 1 << 27
MAX_LM_CACHE_BYTES = 1 << 34


class SlotPlaces(NamedTuple):
    """Where the records of a slot begin in memory, in bytes (``csrc/results/slot_results.h``)."""

    keys: int
    costs: int
    histories: int
    backpointers: int
    words: int


@dataclass(frozen=True)
class WfstSearchConfig:
    """Sizes of a search. Raises InvalidConfig for values that make no search.

    max_tokens: per slot, what a stream's max_active can be at most.
    backpointer_capacity: backpointers per slot: words and recombinations that are not yet settled.
    entry_capacity: keys that a frame may reach before it is pruned. candidate_capacity: arc
        candidates for them. Both per block that runs at the same time.
    boost_capacity: automaton states of all slots' boost tables together. oov_capacity: tokens of
        all their dynamic OOV words together.
    lm_cache_bytes: CUDA only: of the device, for what was looked up in language models, which lie
        in the host's memory, for all slots; 0 keeps nothing.
    parallel_lanes: CUDA only: lanes searched by one launch; a larger batch takes several.
    workers: CPU threads that share the lanes.
    block_threads: threads per lane, by default 256 on CUDA and 1 on CPU; changes no result.
    """

    max_tokens: int = 10_000
    backpointer_capacity: int = 1 << 17
    entry_capacity: int = 1 << 18
    candidate_capacity: int = 1 << 19
    boost_capacity: int = 65536
    oov_capacity: int = 65536
    lm_cache_bytes: int = 0
    parallel_lanes: int = 132
    workers: int = 1
    block_threads: int | None = None

    def __post_init__(self) -> None:
        sizes = (
            self.max_tokens,
            self.backpointer_capacity,
            self.entry_capacity,
            self.candidate_capacity,
            self.parallel_lanes,
            self.workers,
        )
        if not all(1 <= size <= MAX_CAPACITY for size in sizes):
            raise InvalidConfig(f"sizes, parallel_lanes and workers must lie in 1..{MAX_CAPACITY}")
        arenas = (self.boost_capacity, self.oov_capacity)
        if not all(0 <= size <= MAX_CAPACITY for size in arenas):
            raise InvalidConfig(f"boost_ and oov_capacity must lie in 0..{MAX_CAPACITY}")
        if not 0 <= self.lm_cache_bytes <= MAX_LM_CACHE_BYTES:
            raise InvalidConfig(f"lm_cache_bytes must lie in 0..{MAX_LM_CACHE_BYTES}")
        if self.entry_capacity < self.max_tokens or self.candidate_capacity < self.max_tokens:
            raise InvalidConfig("entry_ and candidate_capacity must be at least max_tokens")
        if self.block_threads is not None and not 1 <= self.block_threads <= MAX_BLOCK_THREADS:
            raise InvalidConfig(f"block_threads must lie in 1..{MAX_BLOCK_THREADS}")


class WfstMemory:
    """Everything that the kernels borrow, and ``native``, which borrows it."""

    def __init__(
        self, graph: Graph, config: WfstSearchConfig, num_slots: int, device: torch.device
    ) -> None:
        half = native_half(device)
        tables = WfstTables.of(graph, device)
        shape = _shape(graph, tables, config)
        self.slot_bytes = half.wfst_slot_bytes(shape)
        self.finals = tables.finals
        blocks = config.workers if device.type == "cpu" else min(config.parallel_lanes, num_slots)
        self._slots = torch.zeros(num_slots, self.slot_bytes, dtype=torch.uint8, device=device)
        bytes_per_block = half.wfst_workspace_bytes(shape)
        self._options = torch.zeros(num_slots, 5, dtype=torch.int64, device=device)
        self._scales = torch.zeros(num_slots, 3, dtype=torch.float64, device=device)
        self._boosts = BoostArena(config.boost_capacity, num_slots, device)
        self._oov = OovArena(graph, tables.kinds, config.oov_capacity, num_slots, device)
        cache_words = config.lm_cache_bytes // 8
        self._lm_cache = torch.zeros(cache_words, dtype=torch.int64, device=device)
        self._lms = torch.zeros(num_slots, half.lm_row_bytes, dtype=torch.uint8, device=device)
        self._unknown_cost = graph.unknown_cost
        self._tables: list[WordBoostTable | None] = [None] * num_slots
        self._named: list[SearchLm | None] = [None] * num_slots
        self._members = [NO_MEMBERS] * num_slots
        self._placed_members = [torch.from_numpy(NO_MEMBERS).to(device)] * num_slots
        self._backpointer_capacity = config.backpointer_capacity
        self.native = half.WfstMemory(
            shape=shape,
            graph=half.WfstArcs(tables.nodes, tables.labels, tables.arcs),
            min_weight=tables.min_weight,
            max_weight=tables.max_weight,
            max_eps_words=tables.max_eps_words,
            max_arc_words=tables.max_arc_words,
            slots=self._slots,
            workspaces=torch.empty(blocks, bytes_per_block, dtype=torch.uint8, device=device),
            options=self._options,
            scales=self._scales,
            boost_links=self._boosts.links,
            boost_bonuses=self._boosts.bonuses,
            boost_rows=self._boosts.rows,
            oov_arcs=half.WfstArcs(self._oov.nodes, self._oov.labels, self._oov.arcs),
            oov_rows=self._oov.rows,
            lms=self._lms,
            lm_cache=self._lm_cache,
        )
        self._layout = self.native.layout()

    def write_options(self, slot: int, options: WfstOptions) -> None:
        """What the kernels read of a slot's options."""
        beam, lattice_beam = options.fixed_beams
        self._options[slot, :3] = torch.tensor([beam, lattice_beam, options.max_active])
        scales = [options.acoustic_scale, options.graph_scale, options.skip_log_prob]
        self._scales[slot] = torch.tensor(scales, dtype=torch.float64)

    def write_boost(self, slot: int, table: WordBoostTable | None) -> None:
        """Another table for a slot, or none. Raises CapacityExceeded: the slot is then without."""
        self._boosts.remove(slot)
        self._oov.remove(slot)
        self._write_row(slot, None, self._named[slot])
        if table is None:
            return
        self._oov.place(slot, table)
        try:
            self._boosts.place(slot, table.automaton)
        except CapacityExceeded:
            self._oov.remove(slot)
            raise
        self._options[slot, 3] = _largest_step(table.automaton)
        self._write_row(slot, table, self._named[slot])

    def write_lm(self, slot: int, lm: SearchLm | None) -> None:
        """Other language models for a slot, or none. Raises what `SearchLm.row` raises."""
        self._write_row(slot, self._tables[slot], lm)

    def has_members(self, slot: int) -> bool:
        """Whether the slot's table has members of classes."""
        table = self._tables[slot]
        return table is not None and bool(table.members)

    def members(self, slot: int) -> Members:
        """The slot's words from outside the graph as its models take them (M, 2)."""
        return self._members[slot]

    def _write_row(self, slot: int, table: WordBoostTable | None, lm: SearchLm | None) -> None:
        """What the kernels read of a slot's models and of the words that its table brings."""
        members = NO_MEMBERS if lm is None else lm.members(table, self._unknown_cost)
        placed = torch.from_numpy(members).to(self._lms.device)
        self._lms[slot] = 0 if lm is None else lm.row(self._lms.device, placed)
        self._options[slot, 4] = 0 if lm is None else lm.native.beginning
        self._tables[slot], self._named[slot] = table, lm
        self._members[slot], self._placed_members[slot] = members, placed

    def records(
        self,
        slots: Tensor,
        counts: Sequence[Sequence[int]],
        how: kernels.Launch,
        *,
        with_lm: bool = False,
    ) -> tuple[Tensor, list[SlotPlaces]]:
        """The tokens and backpointers of slots (B,) on the host, and where each slot's begin.

        ``counts``: of each slot, as the kernels count. ``with_lm``: as `how` says. The
        memory is uint8 of two dimensions; on the CPU it is the slots' own, good until they change.
        """
        if self._slots.device.type != "cpu":
            return self.gathered(slots, counts, how, with_lm=with_lm)
        starts = [slot * self.slot_bytes for slot in slots.tolist()]
        return self._slots, [
            SlotPlaces(*(start + offset for offset in self._layout)) for start in starts
        ]

    def gathered(
        self,
        slots: Tensor,
        counts: Sequence[Sequence[int]],
        how: kernels.Launch,
        *,
        with_lm: bool = False,
    ) -> tuple[Tensor, list[SlotPlaces]]:
        """The same as one copy, and only of what the tokens reach."""
        tokens = [0, *accumulate(each[1] for each in counts)]
        in_use = [0, *accumulate(each[2] for each in counts)]
        firsts = torch.tensor([tokens[:-1], in_use[:-1]]).T.contiguous().to(slots.device)
        keys, costs = self._zeros(tokens[-1]), self._zeros(tokens[-1])
        words = self._zeros(tokens[-1] if with_lm else 0)
        histories = self._zeros(tokens[-1], dtype=torch.int32)
        marks = self._zeros(len(counts), self._backpointer_capacity, dtype=torch.int32)
        marked = self._zeros(in_use[-1], dtype=torch.int32)
        backpointers, reached = self._zeros(in_use[-1], 3), self._zeros(len(counts))
        self.native.gather(
            dlpack_capsule(slots),
            dlpack_capsule(firsts),
            dlpack_capsule(marks),
            dlpack_capsule(marked),
            dlpack_capsule(keys),
            dlpack_capsule(costs),
            dlpack_capsule(words),
            dlpack_capsule(histories),
            dlpack_capsule(backpointers),
            dlpack_capsule(reached),
            how,
        )
        sizes: list[int] = reached.tolist()
        alive = [backpointers[at : at + size] for at, size in zip(in_use, sizes, strict=False)]
        parts = [keys, costs, words, *alive, histories]
        memory = torch.cat([part.reshape(-1).view(torch.uint8) for part in parts]).cpu()
        ends = [0, *accumulate(part.numel() * part.element_size() for part in parts)]
        places = [
            SlotPlaces(
                8 * first, ends[1] + 8 * first, ends[-2] + 4 * first, start, ends[2] + 8 * first
            )
            for first, start in zip(tokens, ends[3:-2], strict=False)
        ]
        return memory[None], places

    def _zeros(self, *shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
        return torch.zeros(shape, dtype=dtype, device=self._slots.device)


def _shape(graph: Graph, tables: WfstTables, config: WfstSearchConfig) -> Any:
    return kernels.WfstShape(
        topology=TOPOLOGIES.index(graph.topology),
        num_nodes=graph.num_nodes,
        start=graph.start,
        loop_node=graph.loop_node,
        vocab_size=graph.vocab_size,
        blank_id=graph.blank_id,
        num_levels=tables.num_levels,
        max_tokens=config.max_tokens,
        backpointer_capacity=config.backpointer_capacity,
        entry_capacity=config.entry_capacity,
        candidate_capacity=config.candidate_capacity,
    )


def _largest_step(table: BoostTable) -> int:
    """The most that one word can earn: a bound for what the search may still gain."""
    pending, completed = table.bonuses
    step = float((pending + completed).max() - pending.min())
    return int(step * 2.0**FRACTION_BITS) + 3
