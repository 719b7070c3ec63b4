"""Beams of many streams by one transducer's head: the Python face of the native search.

Alignment-length synchronous decoding (Saon 2020), modified for batches (Grigoryan 2025), for RNN-T
and TDT: `csrc/transducer/beam_search.h` says how the work is laid out,
`tests/decoder_kernels/transducer/beam_oracle.py` says the same in plain loops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from earshot.decoder_kernels.errors import InvalidConfig, InvalidInput
from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.transducer.label_loop import ChunkLabels, LabelLoop
from earshot.decoder_kernels.transducer.placed_boosts import NO_TABLE, PlacedTable
from earshot.decoder_kernels.transducer.token_lm import TokenLm
from earshot.native.dlpack import dlpack_capsule

AHEAD, BOOST_STATE, LM_STATE, LABELS, _HASH = range(kernels.BEAM_CARRIED)
"""Columns of what a hypothesis carries besides the predictor's memory."""

MOST_LM_WEIGHT = 1e6
"""What a float multiplies without ever coming to infinity."""


@dataclass(frozen=True)
class BeamConfig:
    """How a beam is searched.

    width: hypotheses kept. waits: until when one that goes ahead waits for the others, and competes
    with them: with "frame" nothing depends on how a stream is cut into chunks, "chunk" is NeMo's
    rule. narrow: what costs more nats than the best by this is dropped. lm_weight: the power of a
    language model's probabilities where a lane names none. Raises InvalidConfig.
    """

    width: int = 4
    waits: Literal["frame", "chunk"] = "frame"
    narrow: float = math.inf
    lm_weight: float = 0.3

    def __post_init__(self) -> None:
        if self.width < 1 or not self.narrow > 0:
            raise InvalidConfig("a beam has one hypothesis at least, and is wider than 0")
        if not 0 <= self.lm_weight <= MOST_LM_WEIGHT:
            raise InvalidConfig(f"lm_weight is {self.lm_weight}, must be 0 to {MOST_LM_WEIGHT:g}")


@dataclass(frozen=True, eq=False)
class BeamMemory:
    """What the H hypotheses of a stream remember between two chunks; it is never changed.

    numbers `(H, S)` float32: the predictor's. carried `(H, C)` int64: see the columns. scores
    `(H,)` float64: of whole paths. boosts: the fingerprint of the table that the boost states are
    of; where the stream has another by now, no phrase is under way.
    """

    numbers: Tensor
    carried: Tensor
    scores: Tensor
    boosts: int = NO_TABLE.fingerprint

    @property
    def leading(self) -> int:
        """The likeliest hypothesis; of several the first."""
        return int(self.scores.argmax())

    def alone(self, place: int) -> BeamMemory:
        """One hypothesis, as if nothing had been said before that costs anything."""
        carried = self.carried[place : place + 1].clone()
        carried[:, LABELS] = 0
        return replace(
            self,
            numbers=self.numbers[place : place + 1].clone(),
            carried=carried,
            scores=torch.zeros(1, dtype=torch.float64),
        )

    def only(self, places: Sequence[int]) -> BeamMemory:
        """Some of the hypotheses, in this order."""
        some = list(places)
        return replace(
            self, numbers=self.numbers[some], carried=self.carried[some], scores=self.scores[some]
        )

    def under(self, table: PlacedTable) -> Tensor:
        """The numbers that are carried, with states in this table."""
        if self.boosts == table.fingerprint:
            return self.carried
        carried = self.carried.clone()
        carried[:, BOOST_STATE] = 0
        return carried


@dataclass(frozen=True)
class SaidInChunk(ChunkLabels):
    """One hypothesis over a chunk. parent: which it was in the memory before."""

    parent: int


@dataclass(frozen=True, eq=False)
class SearchedChunk:
    """The hypotheses after a chunk, in the order of the memory after it."""

    hypotheses: list[SaidInChunk]
    after: BeamMemory


class LabelBeam:
    """Searches chunks of streams with the weights and the boosts of `loop`.

    Raises InvalidConfig for a language model of other labels.
    """

    def __init__(self, loop: LabelLoop, config: BeamConfig, lm: TokenLm | None = None) -> None:
        if lm is not None and lm.vocab_size != loop.vocab_size:
            raise InvalidConfig(f"the LM has {lm.vocab_size} labels, the head {loop.vocab_size}")
        self._loop = loop
        self._config = config
        self._lm = None if lm is None else lm.native()
        carried = torch.zeros(1, kernels.BEAM_CARRIED, dtype=torch.int64)
        carried[0, LM_STATE] = 0 if lm is None else lm.start
        numbers = loop.begin().numbers.unsqueeze(0)
        self._silence = BeamMemory(numbers, carried, torch.zeros(1, dtype=torch.float64))

    @property
    def lm_weight(self) -> float:
        """The language model's where a lane names none."""
        return self._config.lm_weight

    def begin(self) -> BeamMemory:
        """Nothing was said."""
        return self._silence

    def __call__(
        self,
        chunks: Sequence[Tensor],
        before: Sequence[BeamMemory],
        slots: Sequence[int] | None = None,
        lm_weights: Sequence[float] | None = None,
    ) -> list[SearchedChunk | None]:
        """Search each stream's encoder frames `(T_i, D)` from what was said before them.

        slots: whose boosts count; without them nobody's do. lm_weights: the language model's in
        each stream, 0 for none; without them the config's. None for a stream for which the
        network's output is not finite; the others' hypotheses are whole. Raises InvalidInput for
        chunks of other sizes, more hypotheses than are kept, and weights that are none.
        """
        if not chunks:
            return []
        self._loop.check(chunks)
        counts = [len(each.scores) for each in before]
        if not all(1 <= count <= self._config.width for count in counts):
            raise InvalidInput(f"a stream has 1 to {self._config.width} hypotheses: {counts}")
        tables = self._loop.tables(slots, len(chunks))
        weights = self._weights(lm_weights, len(chunks))
        after = self._room(len(chunks))
        found = self._search(chunks, before, tables, weights, after)
        width = self._config.width
        return [
            _searched(each, after, lane * width, table) if each.finite else None
            for lane, (each, table) in enumerate(zip(found, tables, strict=True))
        ]

    def _weights(self, asked: Sequence[float] | None, lanes: int) -> Tensor:
        weights = [self._config.lm_weight] * lanes if asked is None else list(asked)
        if len(weights) != lanes or not all(0 <= each <= MOST_LM_WEIGHT for each in weights):
            raise InvalidInput(f"{lanes} lanes need as many lm_weights, of 0 or more: {weights}")
        return torch.tensor(weights, dtype=torch.float32)

    def _room(self, lanes: int) -> BeamMemory:
        rows = lanes * self._config.width
        return BeamMemory(
            torch.empty(rows, self._silence.numbers.shape[1]),
            torch.empty(rows, kernels.BEAM_CARRIED, dtype=torch.int64),
            torch.empty(rows, dtype=torch.float64),
        )

    def _search(
        self,
        chunks: Sequence[Tensor],
        before: Sequence[BeamMemory],
        tables: Sequence[PlacedTable],
        weights: Tensor,
        after: BeamMemory,
    ) -> list[kernels.FoundBeam]:
        carried = [each.under(table) for each, table in zip(before, tables, strict=True)]
        config = self._config
        return self._loop.native.search(
            dlpack_capsule(torch.tensor([len(chunk) for chunk in chunks])),
            dlpack_capsule(torch.cat(list(chunks)).cpu().float().contiguous()),
            dlpack_capsule(torch.tensor([len(each.scores) for each in before])),
            dlpack_capsule(torch.cat([each.numbers for each in before])),
            dlpack_capsule(torch.cat(carried)),
            dlpack_capsule(torch.cat([each.scores for each in before])),
            dlpack_capsule(after.numbers),
            dlpack_capsule(after.carried),
            dlpack_capsule(after.scores),
            *self._loop.lent_boosts(),
            dlpack_capsule(torch.tensor([(each.first_row, each.num_states) for each in tables])),
            dlpack_capsule(weights),
            config.width,
            config.waits == "frame",
            config.narrow,
            self._lm,
            torch.get_num_threads(),
        )


def _searched(
    found: kernels.FoundBeam, rows: BeamMemory, first: int, table: PlacedTable
) -> SearchedChunk:
    own = slice(first, first + len(found.hypotheses))
    after = BeamMemory(
        # Views would keep all lanes' alive.
        rows.numbers[own].clone(),
        rows.carried[own].clone(),
        rows.scores[own].clone(),
        table.fingerprint,
    )
    return SearchedChunk([_said(each) for each in found.hypotheses], after)


def _said(found: kernels.FoundHypothesis) -> SaidInChunk:
    return SaidInChunk(
        found.tokens,
        found.frames,
        found.durations,
        found.log_probs,
        found.blank_log_probs,
        found.parent,
    )
