"""Greedy decoding of many streams by one transducer's head: the Python face of label looping.

Bataev 2024, Algorithm 3, for RNN-T and TDT: `csrc/transducer/label_loop.h` says how the work is
laid out. `tests/decoder_kernels/transducer/oracles.py` says the same in plain loops. It runs on
CPUs: what comes from another device is copied first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.errors import InvalidInput
from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.transducer.loop_weights import LoopWeights
from earshot.decoder_kernels.transducer.placed_boosts import NO_TABLE, PlacedBoosts, PlacedTable
from earshot.native.dlpack import DlpackCapsule, dlpack_capsule

NO_BLANK = -math.inf
"""The log-probability of the blank in a frame that labels alone have passed."""


@dataclass(frozen=True, eq=False)
class LoopMemory:
    """What a stream remembers between two chunks; it is never changed.

    numbers `(S,)` float32: the predictor's, as the loop lays them out. ahead: frames from the next
    one on that a duration has skipped. boost_state: in the boost table of the fingerprint `boosts`;
    where the stream has another by now, no phrase is under way.
    """

    numbers: Tensor
    ahead: int = 0
    boost_state: int = 0
    boosts: int = NO_TABLE.fingerprint

    def carried(self, table: PlacedTable) -> tuple[int, int]:
        """Frames ahead, and the state in this table."""
        return self.ahead, self.boost_state if self.boosts == table.fingerprint else 0

    def under(self, table: PlacedTable) -> LoopMemory:
        """The memory as it is with these boosts."""
        return LoopMemory(self.numbers, *self.carried(table), table.fingerprint)

    def to(self, device: torch.device) -> LoopMemory:
        """The memory with its numbers on a device."""
        return replace(self, numbers=self.numbers.to(device))


@dataclass(frozen=True, eq=False)
class ChunkLabels:
    """The labels of a chunk's T frames.

    frames: where each label was found. durations: frames that each lasts (1 of an RNN-T), which may
    reach beyond the chunk. log_probs: of each label, by the network alone. blank_log_probs: of each
    frame the blank's that has passed it, `NO_BLANK` where labels alone have.
    """

    tokens: list[int]
    frames: list[int]
    durations: list[int]
    log_probs: list[float]
    blank_log_probs: list[float]


@dataclass(frozen=True, eq=False)
class WalkedChunk(ChunkLabels):
    """The labels of a chunk, and the memory after it."""

    after: LoopMemory

    @staticmethod
    def nothing(memory: LoopMemory) -> WalkedChunk:
        """No frames, behind what was said."""
        return WalkedChunk([], [], [], [], [], memory)

    def then(self, other: WalkedChunk) -> WalkedChunk:
        """This and what follows it, as one."""
        passed = len(self.blank_log_probs)
        return WalkedChunk(
            self.tokens + other.tokens,
            self.frames + [passed + frame for frame in other.frames],
            self.durations + other.durations,
            self.log_probs + other.log_probs,
            self.blank_log_probs + other.blank_log_probs,
            other.after,
        )


class LabelLoop:
    """Walks over chunks of streams, whose boosts are in `num_slots` slots.

    native, vocab_size: for beams over the same weights (`LabelBeam`).

    boost_capacity: automaton states of all slots' boost tables together, 32 bytes each. processor:
    one of `kernels.processors()`, by default the fastest.
    """

    def __init__(
        self,
        weights: LoopWeights,
        num_slots: int = 0,
        boost_capacity: int = 0,
        processor: str | None = None,
    ) -> None:
        self.native = weights.native(processor or kernels.processors()[0])
        self.vocab_size = weights.vocab_size
        self._size = weights.encoder_size
        self._boosts = PlacedBoosts(self.vocab_size, num_slots, boost_capacity, torch.device("cpu"))
        self._silence = LoopMemory(torch.empty(self.native.memory_size))
        self.native.begin(dlpack_capsule(self._silence.numbers))

    def begin(self) -> LoopMemory:
        """Nothing was said."""
        return self._silence

    def set_boost(self, slot: int, table: BoostTable | None) -> None:
        """Boost a slot's phrases from its next chunk on, or none.

        With another table no phrase is under way. Raises BoostTableError for tokens outside the
        labels, CapacityExceeded where the table does not fit; the slot is then without one.
        """
        self._boosts.set(slot, table)

    def __call__(
        self,
        chunks: Sequence[Tensor],
        before: Sequence[LoopMemory],
        slots: Sequence[int] | None = None,
    ) -> list[WalkedChunk | None]:
        """Walk over each stream's encoder frames `(T_i, D)` from what was said before them.

        slots: whose boosts count; without them nobody's do. None for a stream for which the
        network's output is not finite; the others' walks are whole. Raises InvalidInput for chunks
        of other sizes.
        """
        if not chunks:
            return []
        self.check(chunks)
        lengths = [len(chunk) for chunk in chunks]
        tables = self.tables(slots, len(chunks))
        memory = torch.stack([each.numbers.cpu() for each in before])
        carried = torch.tensor(
            [each.carried(table) for each, table in zip(before, tables, strict=True)]
        )
        blank_log_probs = torch.empty(sum(lengths))
        found = self.native.run(
            dlpack_capsule(torch.tensor(lengths)),
            dlpack_capsule(torch.cat(list(chunks)).cpu().float().contiguous()),
            dlpack_capsule(memory),
            dlpack_capsule(carried),
            dlpack_capsule(blank_log_probs),
            *self.lent_boosts(),
            dlpack_capsule(torch.tensor([(each.first_row, each.num_states) for each in tables])),
            torch.get_num_threads(),
        )
        blanks = torch.split(blank_log_probs, lengths)
        lanes = zip(found, memory, carried.tolist(), tables, blanks, strict=True)
        return [_walked(*lane) if lane[0].finite else None for lane in lanes]

    def tables(self, slots: Sequence[int] | None, lanes: int) -> list[PlacedTable]:
        """Whose boosts each lane has; without slots nobody's."""
        return self._boosts.of(slots, lanes)

    def lent_boosts(self) -> tuple[DlpackCapsule, DlpackCapsule]:
        """The arena's links and bonuses."""
        arena = self._boosts.arena
        return dlpack_capsule(arena.links), dlpack_capsule(arena.bonuses)

    def check(self, chunks: Sequence[Tensor]) -> None:
        """Raises InvalidInput for chunks of other sizes."""
        check_chunks(chunks, self._size)


def check_chunks(chunks: Sequence[Tensor], size: int) -> None:
    """Raises InvalidInput for chunks that are not `(T, size)`."""
    for chunk in chunks:
        if chunk.ndim != 2 or chunk.shape[1] != size:
            raise InvalidInput(f"chunks must be (T, {size}): {tuple(chunk.shape)}")


def _walked(
    found: kernels.FoundLabels,
    numbers: Tensor,
    carried: tuple[int, int],
    table: PlacedTable,
    blank: Tensor,
) -> WalkedChunk:
    ahead, boost_state = carried
    return WalkedChunk(
        found.tokens,
        found.frames,
        found.durations,
        found.log_probs,
        blank.tolist(),
        # A view of the numbers would keep all lanes' alive.
        LoopMemory(numbers.clone(), ahead, boost_state, table.fingerprint),
    )
