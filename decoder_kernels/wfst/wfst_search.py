"""CTC WFST beam search over many streams at once: the Python face of the kernels.

``wfst_oracle.py`` says the same in plain Python, and the kernels equal it exactly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from earshot.decoder_kernels.boosting.boost_walk import BoostWalk
from earshot.decoder_kernels.boosting.phrase_trie import ROOT
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.device_errors import device_errors
from earshot.decoder_kernels.errors import InvalidConfig
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_key import CONTEXT_MASK, NODE_SHIFT
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, fixed, nats
from earshot.decoder_kernels.lane_batch import LaneBatch
from earshot.decoder_kernels.native import lend, native_half
from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis, WfstResult
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice, word_lattice
from earshot.decoder_kernels.wfst.wfst_memory import WfstMemory, WfstSearchConfig
from earshot.decoder_kernels.wfst.wfst_nbest import BackpointerWalk, Ranked

__all__ = ["WfstHypothesis", "WfstOptions", "WfstResult", "WfstSearch", "WfstSearchConfig"]


@dataclass(frozen=True)
class _Boosted:
    """A table, and the frame from which it counts."""

    since: int
    automaton: BoostWalk | None


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
        self._tables: list[list[_Boosted]] = [[] for _ in range(num_slots)]
        for slot, options in enumerate(self._options):
            self._memory.write_options(slot, options)
        self._native.reset(lend(torch.arange(num_slots, device=self.device)), self._lanes.launch())

    @device_errors()
    def reset(self, slots: Tensor) -> None:
        """Start the slots ``(B,)`` over. Their options and boost tables stay."""
        chosen = self._lanes.slots(slots)
        overflows, dead_ends = self._counts(chosen)[:, 3:].sum(0).tolist()
        self._past_overflows += overflows
        self._past_dead_ends += dead_ends
        self._native.reset(lend(chosen), self._lanes.launch())
        for slot in chosen.tolist():
            if self._tables[slot]:
                self._tables[slot] = [_Boosted(0, self._tables[slot][-1].automaton)]

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
        self._memory.write_options(slot, options)

    @device_errors()
    def set_boost(self, slot: int, table: WordBoostTable | None) -> None:
        """Boost the slot's phrases from the next frame on; ``None`` frees its table.

        Complete phrases keep their bonus; one that is under way loses it, and an OOV word under
        way is lost. Raises CapacityExceeded when the table does not fit: the slot is then without.
        """
        chosen = self._lanes.slots(torch.tensor([slot]))
        frame = int(self._counts(chosen)[0, 0])
        self._native.forget_boosts(lend(chosen), self._lanes.launch())
        before = [each for each in self._tables[slot] if each.since < frame]
        self._tables[slot] = [*before, _Boosted(frame, None)]
        self._memory.write_boost(slot, table)
        if table is not None:
            self._tables[slot][-1] = _Boosted(frame, BoostWalk(table.automaton))

    @device_errors()
    def advance(self, slots: Tensor, log_probs: Tensor, lengths: Tensor) -> None:
        """Search the frames of one chunk, all lanes in one launch.

        ``slots`` (B,) int64, distinct; ``log_probs`` (B, T, V) float32 natural logarithms;
        ``lengths`` (B,) int64 frames of each lane, at most T.

        Raises InvalidInput that names the lanes whose log-probabilities hold NaN or plus infinity,
        or a frame with nothing finite: these slots are unchanged, all others were searched.
        """
        self._lanes.advance(self._native.advance, slots, log_probs, lengths)

    @device_errors()
    def best(self, slots: Tensor, *, finalize: bool = False) -> list[WfstResult]:
        """The cheapest hypothesis of each slot ``(B,)``; phrases under way are given back.

        ``finalize``: end here, at a final node if any token is at one.
        """
        chosen = self._lanes.slots(slots)
        if not len(chosen):
            return []
        summary = torch.zeros(len(chosen), 5, dtype=torch.int64, device=self.device)
        finals, how = self._memory.finals, self._lanes.launch()
        self._native.best(lend(chosen), lend(finals), finalize, lend(summary), how)
        longest = int(summary[:, 1].max())
        words = torch.zeros(len(chosen), longest, dtype=torch.int32, device=self.device)
        frames = torch.zeros_like(words)
        self._native.words(lend(chosen), lend(summary), lend(words), lend(frames), how)
        rows = zip(chosen.tolist(), summary.tolist(), words.tolist(), frames.tolist(), strict=True)
        return [
            WfstResult(
                self._hypothesis(slot, cost, list(zip(ids, at, strict=True))[:length], bool(final)),
                min(stable, length),
            )
            for slot, (cost, length, stable, final, _), ids, at in rows
        ]

    @device_errors()
    def nbest(self, slot: int, n: int, *, finalize: bool = True) -> list[WfstHypothesis]:
        """Up to ``n`` distinct sequences of words, cheapest first.

        Exact among those that cost at most ``lattice_beam`` more than the best and that no beam
        has cut; others are not listed. Raises TooManyHistories where ``n`` is beyond what can be
        found in seconds.
        """
        self._lanes.slots(torch.tensor([slot]))
        tokens = int(self._counts(torch.tensor([slot], device=self.device))[0, 1])
        keys, costs, histories, backpointers = self._memory.read(slot, tokens)
        ends, reached = self._ends(slot, keys, costs, finalize)
        limit = min(cost for cost, _ in ends) + self._options[slot].fixed_beams[1]
        found: list[WfstHypothesis] = []
        for ranked in BackpointerWalk(backpointers, histories).ranked(ends, limit):
            if len(found) >= n:
                break
            found.append(self._of_ranked(slot, ranked, reached))
        return found

    @device_errors()
    def lattice(self, slot: int, *, finalize: bool = True) -> WordLattice:
        """The alternatives that `nbest` lists, all of them, as a graph of words with times."""
        chosen = self._lanes.slots(torch.tensor([slot]))
        num_frames, tokens = self._counts(chosen)[0, :2].tolist()
        keys, costs, histories, backpointers = self._memory.read(slot, tokens)
        ends, reached = self._ends(slot, keys, costs, finalize)
        results = [(cost, int(histories[token])) for cost, token in ends]
        _, beam = self._options[slot].fixed_beams
        return word_lattice(backpointers, results, num_frames, beam, reached_final=reached)

    @device_errors()
    def overflows(self, slots: Tensor | None = None) -> int:
        """How many frames of all slots had no room for a key, an arc candidate or a backpointer.

        What did not fit is then missing among the alternatives, or if it was a word the frame is
        left out; the result stays a path through the graph. With ``slots`` (B,): only theirs, since
        they were reset.
        """
        if slots is not None:
            return int(self._counts(self._lanes.slots(slots))[:, 3].sum())
        return self._past_overflows + int(self._counts(self._everything())[:, 3].sum())

    @device_errors()
    def dead_ends(self, slots: Tensor | None = None) -> int:
        """How many frames nothing survived: they are left out. Of which slots, as `overflows`."""
        if slots is not None:
            return int(self._counts(self._lanes.slots(slots))[:, 4].sum())
        return self._past_dead_ends + int(self._counts(self._everything())[:, 4].sum())

    @device_errors()
    def backpointers_in_use(self, slot: int) -> int:
        """Word backpointers that the slot holds, dead ones that wait for collection included."""
        return int(self._counts(self._lanes.slots(torch.tensor([slot])))[0, 2])

    @device_errors()
    def num_tokens(self, slots: Tensor) -> list[int]:
        """Tokens alive in each slot ``(B,)``."""
        counts: list[int] = self._counts(self._lanes.slots(slots))[:, 1].tolist()
        return counts

    def _ends(
        self, slot: int, keys: np.ndarray, costs: np.ndarray, finalize: bool
    ) -> tuple[list[tuple[int, int]], bool]:
        """``(cost, token)`` of each token as a result, and whether they are at final nodes."""
        automaton = self._automaton(slot)
        scale = self._options[slot].graph_scale
        order = np.argsort(keys, kind="stable")
        found = [
            (int(costs[i]) + fixed(automaton.pending(int(keys[i]) & CONTEXT_MASK)), int(i))
            for i in order
        ]
        if not finalize:
            return found, False
        finals = self.graph.finals
        nodes = (keys >> np.uint64(NODE_SHIFT)).astype(np.int64)
        final = [
            (cost + fixed(float(finals[nodes[i]]) * scale), i)
            for cost, i in found
            if nodes[i] < self.graph.num_nodes and finals[nodes[i]] != math.inf
        ]
        return (final, True) if final else (found, False)

    def _of_ranked(self, slot: int, ranked: Ranked, reached: bool) -> WfstHypothesis:
        return self._hypothesis(slot, ranked.cost, ranked.words, reached)

    def _hypothesis(
        self, slot: int, cost: int, words: Sequence[tuple[int, int]], reached: bool
    ) -> WfstHypothesis:
        return WfstHypothesis(
            words=tuple(word for word, _ in words),
            frames=tuple(frame for _, frame in words),
            cost=nats(cost),
            boost=nats(self._boost(slot, words)),
            reached_final=reached,
        )

    def _boost(self, slot: int, words: Sequence[tuple[int, int]]) -> int:
        """What completed phrases have earned: a function of the words, as tables came and went."""
        total = 0
        tables = self._tables[slot]
        for i, table in enumerate(tables):
            until = tables[i + 1].since if i + 1 < len(tables) else math.inf
            if table.automaton is None:
                continue
            state = ROOT
            for word, frame in words:
                if table.since <= frame < until:
                    state = table.automaton.step(state, word)
                    total += fixed(table.automaton.completed(state))
        return total

    def _automaton(self, slot: int) -> BoostWalk:
        tables = self._tables[slot]
        return (tables[-1].automaton if tables else None) or BoostWalk(None)

    def _counts(self, slots: Tensor) -> Tensor:
        counts = torch.zeros(len(slots), 5, dtype=torch.int64, device=self.device)
        self._native.count(lend(slots), lend(counts), self._lanes.launch())
        return counts

    def _everything(self) -> Tensor:
        return torch.arange(self.num_slots, device=self.device)
