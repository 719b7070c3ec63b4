"""CTC WFST beam search over many streams at once: the Python face of the kernels.

``tests/decoder_kernels/wfst_oracle.py`` and ``results_oracle`` beside it say the same in plain
Python, and it is equal exactly.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.device_errors import device_errors
from earshot.decoder_kernels.errors import InvalidConfig
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, nats
from earshot.decoder_kernels.lane_batch import LaneBatch
from earshot.decoder_kernels.native import kernels, native_half
from earshot.decoder_kernels.wfst.search_lm import SearchLm
from earshot.decoder_kernels.wfst.wfst_confidence import WordConfidences, check_confidence
from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis, WfstResult
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice
from earshot.decoder_kernels.wfst.wfst_memory import SlotPlaces, WfstMemory, WfstSearchConfig
from earshot.native.dlpack import dlpack_capsule

__all__ = ["WfstHypothesis", "WfstOptions", "WfstResult", "WfstSearch", "WfstSearchConfig"]


class WfstSearch:
    """The searches of ``num_slots`` streams on one device. Not for several threads at a time.

    A slot remembers its stream between chunks. All memory is allocated here, once. Raises
    BackendMissing without the native half for ``device``; InvalidGraph where epsilon arcs form a
    cycle; InvalidConfig.
    """

    @device_errors()
    def __init__(
        self,
        graph: Graph,
        config: WfstSearchConfig,
        num_slots: int,
        device: torch.device | str = "cpu",
    ) -> None:
        if num_slots < 1:
            raise InvalidConfig("a search needs a slot")
        self.graph = graph
        self.config = config
        self.num_slots = num_slots
        self.device = torch.device(device)
        half = native_half(self.device)
        self._memory = WfstMemory(graph, config, num_slots, self.device)
        self._lanes = LaneBatch(
            num_slots=num_slots,
            vocab_size=graph.vocab_size,
            device=self.device,
            block_threads=config.block_threads or half.wfst_threads,
            workers=config.workers,
            parallel=None if self.device.type == "cpu" else config.parallel_lanes,
        )
        self.slot_bytes = self._memory.slot_bytes
        self._native = self._memory.native
        self._past_overflows = self._past_dead_ends = 0
        self._options = [WfstOptions(max_active=min(10_000, config.max_tokens))] * num_slots
        self._boosts = [kernels.SlotBoosts() for _ in range(num_slots)]
        self._lms: list[SearchLm | None] = [None] * num_slots
        self._has_whole_lm = [True] * num_slots
        self._searched: set[int] = set()  # slots that have models
        self._unlike: set[int] = set()  # slots whose models have another scale than the graph
        self._reader = kernels.ResultReader(graph.finals)
        for slot, options in enumerate(self._options):
            self._memory.write_options(slot, options)
        self._native.reset(
            dlpack_capsule(torch.arange(num_slots, device=self.device)), self._lanes.launch()
        )

    @device_errors()
    def reset(self, slots: Tensor) -> None:
        """Start the slots ``(B,)`` over. Their options, boost tables and language models stay."""
        chosen = self._lanes.slots(slots)
        overflows, dead_ends = self._counts(chosen)[:, 3:].sum(0).tolist()
        self._past_overflows += overflows
        self._past_dead_ends += dead_ends
        self._native.reset(dlpack_capsule(chosen), self._lanes.launch())
        for slot in chosen.tolist():
            self._boosts[slot].restart()
            self._has_whole_lm[slot] = True

    @device_errors()
    def set_options(self, slot: int, options: WfstOptions) -> None:
        """Search the slot so from the next frame on. Raises InvalidConfig for too many tokens.

        What a narrower ``lattice_beam`` has not noted is not found again by a wider one; what it
        has noted of epsilon arcs may be listed beyond what it would have let through.
        """
        self._lanes.slots(torch.tensor([slot]))
        if options.max_active > self.config.max_tokens:
            raise InvalidConfig(
                f"max_active {options.max_active} is above max_tokens {self.config.max_tokens}"
            )
        self._options[slot] = options
        self._compare_scales(slot)
        self._memory.write_options(slot, options)

    @device_errors()
    def set_boost(self, slot: int, table: WordBoostTable | None) -> None:
        """Boost the slot's phrases from the next frame on; ``None`` frees its table.

        Complete phrases keep their bonus; one that is under way loses it, and an OOV word under
        way is lost. Where members of classes come or go after the first frame, n-best lists have no
        rest of gains up to the next reset (`set_lm`). Raises CapacityExceeded when the table does
        not fit: the slot is then without.
        """
        chosen = self._lanes.slots(torch.tensor([slot]))
        frame = int(self._counts(chosen)[0, 0])
        self._native.forget_boosts(dlpack_capsule(chosen), self._launch([slot]))
        self._boosts[slot].remove(frame)
        if frame > 0 and (self._memory.has_members(slot) or (table is not None and table.members)):
            self._has_whole_lm[slot] = False
        self._memory.write_boost(slot, table)
        if table is not None:
            self._boosts[slot].change(frame, table.automaton.links, table.automaton.bonuses)

    @device_errors()
    def set_lm(self, slot: int, lm: SearchLm | None) -> None:
        """Search the slot with these language models from the next frame on; ``None``: the graph's.

        Hypotheses within the new history beam stay, at what they cost, with the words before that
        the new models can tell apart; after ``None`` none are known. N-best lists are of the
        cheapest hundred by limited gains, or of as many as are asked for if those are more, which
        are then given the rest of their gains; not where models have changed after the first
        frame, up to the next reset. Raises InvalidConfig for models that are numbered for another
        graph, and what `NumberedLm.placed` raises: the slot then keeps those that it has.
        """
        chosen = self._lanes.slots(torch.tensor([slot]))
        if lm is not None and len(lm.small.numbers) != len(self.graph.word_texts):
            raise InvalidConfig("the language models are numbered for the words of another graph")
        self._memory.write_lm(slot, lm)
        before, self._lms[slot] = self._lms[slot], lm
        (self._searched.discard if lm is None else self._searched.add)(slot)
        self._native.change_lm(dlpack_capsule(chosen), self._launch([slot]))
        searched = int(self._counts(chosen)[0, 0]) > 0  # which waits for all that read the others
        del before
        self._has_whole_lm[slot] = not searched
        self._compare_scales(slot)

    @device_errors()
    def advance(self, slots: Tensor, log_probs: Tensor, lengths: Tensor) -> None:
        """Search the frames of one chunk, all lanes in one launch.

        ``slots`` (B,) int64, distinct; ``log_probs`` (B, T, V) float32 natural logarithms;
        ``lengths`` (B,) int64 frames of each lane, at most T.

        Raises InvalidInput that names the lanes whose log-probabilities hold NaN or plus infinity,
        or a frame with nothing finite: these slots are unchanged, all others were searched. Raises
        InvalidConfig, and searches nothing, where models of a slot have another scale than its
        ``graph_scale``: what the graph has paid by its own model would then stay in part.
        """
        if self._unlike:
            self._check_scales(slots.tolist())
        self._lanes.advance(
            self._native.advance,
            slots,
            log_probs,
            lengths,
            with_lm=self._has_lm(slots.flatten().tolist()),
        )

    @device_errors()
    def best(self, slots: Tensor, *, finalize: bool = False) -> list[WfstResult]:
        """The cheapest hypothesis of each slot ``(B,)``; phrases under way are given back.

        ``finalize``: end here, at a final node if any token is at one.
        """
        chosen = self._lanes.slots(slots)
        if not len(chosen):
            return []
        summary = torch.zeros(len(chosen), 5, dtype=torch.int64, device=self.device)
        finals, how = self._memory.finals, self._launch(slots.tolist())
        self._native.best(
            dlpack_capsule(chosen), dlpack_capsule(finals), finalize, dlpack_capsule(summary), how
        )
        longest = int(summary[:, 1].max())
        words = torch.zeros(len(chosen), longest, dtype=torch.int32, device=self.device)
        frames = torch.zeros_like(words)
        self._native.words(
            dlpack_capsule(chosen),
            dlpack_capsule(summary),
            dlpack_capsule(words),
            dlpack_capsule(frames),
            how,
        )
        rows = zip(chosen.tolist(), summary.tolist(), words.tolist(), frames.tolist(), strict=True)
        return [
            self._result(slot, said, ids[: said[1]], at[: said[1]]) for slot, said, ids, at in rows
        ]

    @device_errors()
    def nbest(
        self, slots: Sequence[int], n: int, *, finalize: Sequence[bool] | None = None
    ) -> list[list[WfstHypothesis] | None]:
        """For each slot up to ``n`` distinct sequences of words, cheapest first.

        Exact among those that cost at most ``lattice_beam`` more than the best and that no beam
        has cut; others are not listed. None for a slot where ``n`` is beyond what can be found in
        some milliseconds: never a shorter list. ``finalize``: of each slot, by default all.
        """
        memory, lanes = self._records(slots, finalize)
        return [
            None if listed is None else [_hypothesis(*each) for each in listed]
            for listed in self._reader.nbest(dlpack_capsule(memory), lanes, n)
        ]

    @device_errors()
    def lattices(
        self, slots: Sequence[int], *, finalize: Sequence[bool] | None = None
    ) -> list[WordLattice | None]:
        """The alternatives that `nbest` lists, all of them, as graphs of words with times.

        None for a slot where even the narrowest beam would take too long.
        """
        memory, lanes = self._records(slots, finalize)
        drawn = self._reader.lattices(dlpack_capsule(memory), lanes)
        return [None if each is None else WordLattice(*each) for each in drawn]

    def hypothesis(
        self,
        slot: int,
        words: tuple[int, ...],
        frames: tuple[int, ...],
        cost: float,
        lattice: WordLattice,
    ) -> WfstHypothesis:
        """A path of the slot's lattice, as `nbest` would list it; ``cost`` of its arcs, in nats."""
        boost = nats(self._boosts[slot].earned(words, frames))
        return WfstHypothesis(words, frames, cost, boost, lattice.reached_final)

    @device_errors()
    def confidences(
        self,
        slots: Sequence[int],
        posterior_scale: float,
        coverage: float = 1.0,
        *,
        finalize: Sequence[bool] | None = None,
    ) -> list[WordConfidences | None]:
        """How sure each slot's lattice is of words; None where there is no lattice.

        ``posterior_scale`` multiplies costs: below 1, posteriors are less sure of the best path.
        ``coverage``: how often what is said is in a lattice at all; posteriors, which know of
        nothing else, are multiplied by it. Raises InvalidConfig for values out of their ranges.
        """
        check_confidence(posterior_scale, coverage)
        memory, lanes = self._records(slots, finalize)
        found = self._reader.confidences(dlpack_capsule(memory), lanes, posterior_scale, coverage)
        return [None if each is None else WordConfidences(each) for each in found]

    @device_errors()
    def overflows(self) -> int:
        """How many frames of all slots had no room for a key, an arc candidate or a backpointer.

        What did not fit is then missing among the alternatives, or if it was a word the frame is
        left out; the result stays a path through the graph.
        """
        return self._past_overflows + int(self._counts(self._everything())[:, 3].sum())

    @device_errors()
    def dead_ends(self) -> int:
        """How many frames of all slots are left out, as no token survived them."""
        return self._past_dead_ends + int(self._counts(self._everything())[:, 4].sum())

    @device_errors()
    def overflows_and_dead_ends(self, slots: Tensor) -> list[tuple[int, int]]:
        """Both for each of the slots ``(B,)``, since it was reset."""
        return [(row[3], row[4]) for row in self._counts(self._lanes.slots(slots)).tolist()]

    @device_errors()
    def backpointers_in_use(self, slot: int) -> int:
        """Word backpointers that the slot holds, dead ones that wait for collection included."""
        return int(self._counts(self._lanes.slots(torch.tensor([slot])))[0, 2])

    @device_errors()
    def num_tokens(self, slots: Tensor) -> list[int]:
        """Tokens alive in each slot ``(B,)``."""
        counts: list[int] = self._counts(self._lanes.slots(slots))[:, 1].tolist()
        return counts

    def _launch(self, slots: Sequence[int]) -> kernels.Launch:
        return self._lanes.launch(with_lm=self._has_lm(slots))

    def _has_lm(self, slots: Sequence[int]) -> bool:
        """Whether one of the slots has models: others pay nothing."""
        return bool(self._searched) and not self._searched.isdisjoint(slots)

    def _compare_scales(self, slot: int) -> None:
        lm = self._lms[slot]
        is_unlike = lm is not None and lm.scale != self._options[slot].graph_scale
        (self._unlike.add if is_unlike else self._unlike.discard)(slot)

    def _check_scales(self, slots: Sequence[int]) -> None:
        for slot in self._unlike.intersection(slots):
            lm, own = self._lms[slot], self._options[slot].graph_scale
            assert lm is not None  # or the slot would not be unlike
            raise InvalidConfig(
                f"slot {slot}: its models' scale is {lm.scale:g}, its graph_scale is {own:g}"
            )

    def _result(
        self, slot: int, summary: Sequence[int], words: list[int], frames: list[int]
    ) -> WfstResult:
        cost, length, stable, final, _ = summary
        boost = self._boosts[slot].earned(words, frames)
        return WfstResult(_hypothesis(words, frames, cost, boost, bool(final)), min(stable, length))

    def _records(
        self, slots: Sequence[int], finalize: Sequence[bool] | None
    ) -> tuple[Tensor, list[kernels.ResultLane]]:
        """The slots' tokens and backpointers on the host, and how to read each slot's."""
        if not slots:
            return torch.empty(1, 0, dtype=torch.uint8), []
        chosen = self._lanes.slots(torch.tensor(slots, dtype=torch.int64))
        counts = self._counts(chosen).tolist()
        how, with_lm = self._launch(slots), self._has_lm(slots)
        memory, places = self._memory.records(chosen, counts, how, with_lm=with_lm)
        ended = [True] * len(slots) if finalize is None else finalize
        lanes = zip(slots, counts, places, ended, strict=True)
        return memory, [self._lane(*lane) for lane in lanes]

    def _lane(
        self, slot: int, counts: Sequence[int], at: SlotPlaces, ended: bool
    ) -> kernels.ResultLane:
        options, lm = self._options[slot], self._lms[slot]
        return kernels.ResultLane(
            keys=at.keys,
            costs=at.costs,
            histories=at.histories,
            backpointers=at.backpointers,
            num_frames=counts[0],
            num_tokens=counts[1],
            lattice_beam=options.fixed_beams[1],
            graph_scale=options.graph_scale,
            finalize=ended,
            boosts=self._boosts[slot],
            lm=None if lm is None else lm.native,
            words=at.words,
            has_whole_lm=self._has_whole_lm[slot],
            members=self._memory.members(slot),
        )

    def _counts(self, slots: Tensor) -> Tensor:
        counts = torch.zeros(len(slots), 5, dtype=torch.int64, device=self.device)
        self._native.count(dlpack_capsule(slots), dlpack_capsule(counts), self._lanes.launch())
        return counts

    def _everything(self) -> Tensor:
        return torch.arange(self.num_slots, device=self.device)


def _hypothesis(
    words: Sequence[int], frames: Sequence[int], cost: int, boost: int, reached_final: bool
) -> WfstHypothesis:
    return WfstHypothesis(tuple(words), tuple(frames), nats(cost), nats(boost), reached_final)
