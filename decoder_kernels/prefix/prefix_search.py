"""CTC prefix beam search over many streams at once: the Python face of the kernels.

Algorithm: Hannun et al. 2014 (arXiv:1408.2873), algorithm 1, with WeNet's token beam, emission
times and boosting. ``tests/decoder_kernels/prefix_oracle.py`` says the same in plain Python, and
the kernels equal it exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.boosting.boost_arena import BoostArena
from earshot.decoder_kernels.device_errors import device_errors
from earshot.decoder_kernels.errors import BoostTableError, InvalidConfig
from earshot.decoder_kernels.lane_batch import LaneBatch
from earshot.decoder_kernels.native import kernels, native_half
from earshot.decoder_kernels.prefix.prefix_hypothesis import PrefixHypothesis, PrefixResult
from earshot.native.dlpack import dlpack_capsule

__all__ = ["PrefixHypothesis", "PrefixResult", "PrefixSearch", "PrefixSearchConfig"]

MAX_BEAM = 128
MAX_BLOCK_THREADS = 256  # as in csrc/block/block_cuda.h


@dataclass(frozen=True)
class PrefixSearchConfig:
    """Sizes and options of a search. Raises InvalidConfig for values that make no search.

    beam_size: hypotheses kept after each frame.
    token_beam: acoustically best tokens tried per frame.
    node_capacity: per slot, nodes for the tokens, and as many for the times, of all live
        hypotheses; enough is the longest result plus a few per hypothesis.
    boost_capacity: automaton states of all slots' boost tables together, 32 bytes each.
    boost_candidates: also try tokens that begin or continue a boosted phrase when they are not
        among the token_beam best.
    workers: CPU threads that share the lanes.
    block_threads: threads per lane, by default 128 on CUDA and 1 on CPU; changes no result.
    """

    beam_size: int = 10
    token_beam: int = 10
    blank_id: int = 0
    node_capacity: int = 2048
    boost_capacity: int = 65536
    boost_candidates: bool = True
    workers: int = 1
    block_threads: int | None = None

    def __post_init__(self) -> None:
        if not (1 <= self.beam_size <= MAX_BEAM and 1 <= self.token_beam <= MAX_BEAM):
            raise InvalidConfig(f"beam_size and token_beam must lie in 1..{MAX_BEAM}")
        if self.node_capacity < 2 * self.beam_size:
            raise InvalidConfig("node_capacity must be at least twice the beam_size")
        if self.boost_capacity < 0 or self.workers < 1 or self.blank_id < 0:
            raise InvalidConfig("boost_capacity and blank_id must be at least 0, workers 1")
        if self.block_threads is not None and not 1 <= self.block_threads <= MAX_BLOCK_THREADS:
            raise InvalidConfig(f"block_threads must lie in 1..{MAX_BLOCK_THREADS}")


class PrefixSearch:
    """The searches of ``num_slots`` streams on one device. Not for several threads at a time.

    A slot remembers its stream between chunks. All memory is allocated here, once: ``slot_bytes``
    per slot. ``device`` needs its half of the native module (BackendMissing).
    """

    @device_errors()
    def __init__(
        self,
        config: PrefixSearchConfig,
        num_slots: int,
        vocab_size: int,
        device: torch.device | str = "cpu",
    ) -> None:
        if num_slots < 1 or not config.blank_id < vocab_size:
            raise InvalidConfig("a search needs a slot, and a blank_id inside the vocabulary")
        self.config = config
        self.num_slots = num_slots
        self.vocab_size = vocab_size
        self.device = torch.device(device)
        half = native_half(self.device)
        self._lanes = LaneBatch(
            num_slots=num_slots,
            vocab_size=vocab_size,
            device=self.device,
            block_threads=config.block_threads or half.prefix_threads,
            workers=config.workers,
        )
        shape = kernels.SearchShape(
            beam_size=config.beam_size,
            token_beam=min(config.token_beam, vocab_size),
            blank_id=config.blank_id,
            vocab_size=vocab_size,
            node_capacity=config.node_capacity,
            boost_candidates=config.boost_candidates,
        )
        self.slot_bytes = half.slot_bytes(shape)
        self._memory = self._empty(num_slots, self.slot_bytes, dtype=torch.uint8)
        self._boosts = BoostArena(config.boost_capacity, num_slots, self.device)
        self._native = half.PrefixSearch(
            shape, self._memory, self._boosts.links, self._boosts.bonuses, self._boosts.rows
        )
        self._past_overflows = 0
        self._native.reset(
            dlpack_capsule(torch.arange(num_slots, device=self.device)), self._lanes.launch()
        )

    @device_errors()
    def reset(self, slots: Tensor) -> None:
        """Start the slots ``(B,)`` over. Their boost tables stay."""
        chosen = self._lanes.slots(slots)
        self._past_overflows += int(self._summary(chosen)[:, 3].sum())
        self._native.reset(dlpack_capsule(chosen), self._lanes.launch())

    @device_errors()
    def set_boost(self, slot: int, table: BoostTable | None) -> None:
        """Boost the slot's phrases from the next frame on; ``None`` frees its table.

        Complete phrases keep their bonus; one that is under way loses it. Raises CapacityExceeded
        when the table does not fit (the slot is then without one), BoostTableError when a phrase
        holds the blank or a token outside the vocabulary.
        """
        chosen = self._lanes.slots(torch.tensor([slot]))
        if table is not None and self.config.blank_id in table.tokens:
            raise BoostTableError("a boosted phrase holds the blank token")
        if table is not None and max(table.tokens, default=0) >= self.vocab_size:
            raise BoostTableError(f"a boosted phrase has tokens outside the {self.vocab_size} here")
        self._native.forget_boosts(dlpack_capsule(chosen), self._lanes.launch())
        if table is None:
            self._boosts.remove(slot)
        else:
            self._boosts.place(slot, table)

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
    def best(self, slots: Tensor) -> list[PrefixResult]:
        """The best hypothesis of each slot ``(B,)``, as ``nbest`` would rank it now."""
        chosen = self._lanes.slots(slots)
        if not len(chosen):
            return []
        ranked, stable = self._read(chosen, 1, finalize=True)
        return [
            PrefixResult(hypotheses[0], min(length, len(hypotheses[0].tokens)))
            for hypotheses, length in zip(ranked, stable, strict=True)
        ]

    @device_errors()
    def nbest(self, slot: int, n: int, *, finalize: bool = True) -> list[PrefixHypothesis]:
        """Up to ``n`` hypotheses of a slot, best first.

        The bonus of unfinished phrases is given back before they are ranked; ``finalize=False``
        shows the beam as the search itself sees it, pending bonus included.
        """
        chosen = self._lanes.slots(torch.tensor([slot]))
        ranked, _ = self._read(chosen, max(1, min(n, self.config.beam_size)), finalize=finalize)
        return ranked[0][: max(0, n)]

    @device_errors()
    def overflows(self) -> int:
        """How many frames, over all slots so far, did not find enough nodes.

        In such a frame the beam is cut to its best hypothesis; where that one alone fills the slot,
        the frame is left out.
        """
        everything = torch.arange(self.num_slots, device=self.device)
        return self._past_overflows + int(self._summary(everything)[:, 3].sum())

    @device_errors()
    def overflows_of(self, slots: Tensor) -> list[int]:
        """How many frames of each of the slots ``(B,)`` did not, since it was reset."""
        counts: list[int] = self._summary(self._lanes.slots(slots))[:, 3].tolist()
        return counts

    def _read(
        self, slots: Tensor, n: int, finalize: bool
    ) -> tuple[list[list[PrefixHypothesis]], list[int]]:
        longest = int(self._summary(slots)[:, 2].max())
        lanes = len(slots)
        tokens = self._empty(lanes, n, longest, dtype=torch.int32)
        frames = torch.empty_like(tokens)
        log_probs = self._empty(lanes, n, longest, dtype=torch.float32)
        lengths = self._empty(lanes, n, dtype=torch.int32)
        scores = self._empty(lanes, n, 2, dtype=torch.float64)
        stable = self._empty(lanes, dtype=torch.int32)
        self._native.read_results(
            dlpack_capsule(slots),
            finalize,
            dlpack_capsule(tokens),
            dlpack_capsule(frames),
            dlpack_capsule(log_probs),
            dlpack_capsule(lengths),
            dlpack_capsule(scores),
            dlpack_capsule(stable),
            self._lanes.launch(),
        )
        columns = [column.tolist() for column in (tokens, frames, log_probs, lengths, scores)]
        ranked = [_hypotheses(*lane) for lane in zip(*columns, strict=True)]
        return ranked, stable.tolist()

    def _summary(self, slots: Tensor) -> Tensor:
        summary = self._empty(len(slots), 4, dtype=torch.int64)
        self._native.summarize(dlpack_capsule(slots), dlpack_capsule(summary), self._lanes.launch())
        return summary

    def _empty(self, *shape: int, dtype: torch.dtype) -> Tensor:
        return torch.zeros(*shape, dtype=dtype, device=self.device)


def _hypotheses(
    tokens: Sequence[Sequence[int]],
    frames: Sequence[Sequence[int]],
    log_probs: Sequence[Sequence[float]],
    lengths: Sequence[int],
    scores: Sequence[tuple[float, float]],
) -> list[PrefixHypothesis]:
    """The hypotheses of one lane, out of the arrays that the kernel filled."""
    return [
        PrefixHypothesis(
            tokens=tuple(tokens[i][:length]),
            frames=tuple(frames[i][:length]),
            score=scores[i][0] + scores[i][1],
            ctc_score=scores[i][0],
            boost_score=scores[i][1],
            token_log_probs=tuple(log_probs[i][:length]),
        )
        for i, length in enumerate(lengths)
        if length >= 0
    ]
