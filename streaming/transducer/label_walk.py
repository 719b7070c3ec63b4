"""Greedy decoding of many lanes in torch, each at its own frame.

Nobody waits for anybody's label: in each turn every lane that has frames left asks the joint once,
and the lanes that found a label ask the predictor (Bataev 2024, Algorithm 3, without its inner
loop over blanks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.models.transducer.predictor import PredictorState
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.transducer.lane_walk import Choice, LaneWalk
from earshot.streaming.transducer.transcript import NO_BLANK, Transcript


@dataclass(frozen=True, eq=False)
class Spoken:
    """A predictor's memory of what was said up to a frame.

    said `(J,)`: its projection. hidden, cell `(N, H)`: of its layers. ahead: frames from this one
    on that a duration has skipped, with the log-probability `skipped_blank` of a blank's.
    """

    said: Tensor
    hidden: Tensor
    cell: Tensor
    ahead: int = 0
    skipped_blank: float = NO_BLANK


@dataclass(frozen=True, eq=False)
class Walked:
    """The labels of a chunk, and the memory after it."""

    transcript: Transcript
    after: Spoken


class LabelWalk:
    """Walks over chunks of many streams with one transducer's head."""

    def __init__(self, head: Transducer) -> None:
        self._head = head
        self._blank = head.config.blank_id
        self._durations = head.config.durations
        self._device = head.joint.output.weight.device

    def begin(self) -> Spoken:
        """Nothing was said."""
        blank = torch.tensor([self._blank], device=self._device)
        said, state = self._head.say(blank, self._head.predictor.start(1))
        return Spoken(said[0], state.hidden[:, 0], state.cell[:, 0])

    def __call__(self, chunks: Sequence[Tensor], before: Sequence[Spoken]) -> list[Walked]:
        """Walk over each lane's frames `(T_i, D)` from what was said before them.

        Raises DecodingFailed where the network's output is not finite.
        """
        walks = [self._start(chunk, spoken) for chunk, spoken in zip(chunks, before, strict=True)]
        memory = _Memory.of(before)
        heard = self._head.hear(pad_sequence(list(chunks), batch_first=True))
        while going := [lane for lane, walk in enumerate(walks) if not walk.ended]:
            frames = [walks[lane].frame for lane in going]
            choices = self._choose(heard[going, frames], memory.said[going])
            for lane, choice in zip(going, choices, strict=True):
                walks[lane].take(choice)
            self._say(memory, dict(zip(going, (each.token for each in choices), strict=True)))
        return [_walked(walk, memory, lane) for lane, walk in enumerate(walks)]

    def _start(self, chunk: Tensor, spoken: Spoken) -> LaneWalk:
        most = self._head.config.max_symbols
        return LaneWalk(len(chunk), most, spoken.ahead, spoken.skipped_blank)

    def _choose(self, frames: Tensor, said: Tensor) -> list[Choice]:
        """The joint's word on frames `(B, J)` after what was said `(B, J)`."""
        labels, durations = self._head.split(self._head.joint(frames, said))
        log_probs, tokens = labels.float().log_softmax(dim=-1).max(dim=-1)
        if not bool(log_probs.isfinite().all()):
            raise DecodingFailed("the network's output is not finite")
        steps = durations.argmax(dim=-1).tolist() if self._durations else [None] * len(tokens)
        return [
            Choice(
                None if token == self._blank else token,
                log_prob,
                None if step is None else self._durations[step],
            )
            for token, log_prob, step in zip(
                tokens.tolist(), log_probs.tolist(), steps, strict=True
            )
        ]

    def _say(self, memory: _Memory, tokens: dict[int, int | None]) -> None:
        """Have the predictor hear the labels of the lanes that found one."""
        spoken = {lane: token for lane, token in tokens.items() if token is not None}
        if not spoken:
            return
        lanes = list(spoken)
        labels = torch.tensor(list(spoken.values()), device=self._device)
        before = PredictorState(memory.hidden[:, lanes], memory.cell[:, lanes])
        memory.said[lanes], after = self._head.say(labels, before)
        memory.hidden[:, lanes], memory.cell[:, lanes] = after.hidden, after.cell


@dataclass(frozen=True, eq=False)
class _Memory:
    """Memories of B lanes: said `(B, J)`, hidden and cell `(N, B, H)`."""

    said: Tensor
    hidden: Tensor
    cell: Tensor

    @classmethod
    def of(cls, spoken: Sequence[Spoken]) -> _Memory:
        return cls(
            torch.stack([each.said for each in spoken]),
            torch.stack([each.hidden for each in spoken], dim=1),
            torch.stack([each.cell for each in spoken], dim=1),
        )


def _walked(walk: LaneWalk, memory: _Memory, lane: int) -> Walked:
    after = Spoken(
        memory.said[lane].clone(),  # a view would keep the memory of all lanes alive
        memory.hidden[:, lane].clone(),
        memory.cell[:, lane].clone(),
        walk.frame - walk.length,
        walk.skipped_blank,
    )
    return Walked(walk.transcript, after)
