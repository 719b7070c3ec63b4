"""Label looping in torch: the predictor is asked once a label, for all utterances together.

Source: Bataev 2024, Algorithm 3, whose inner loop passes over blanks, and section 3.4: projections
in advance. Utterances that wait for no answer are left out of a call, not masked.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from benchmarks.transducer.decoding import Batch, Labels
from earshot.models.transducer.predictor import PredictorState
from earshot.models.transducer.transducer import Transducer


class TorchLabelLooping:
    """A decoder of batches with one transducer's head.

    in_advance: whether frames are projected once, and the predictor's outputs once a label, or
    either at every evaluation of the joint.
    """

    def __init__(self, head: Transducer, in_advance: bool = True) -> None:
        self._head = head
        self._in_advance = in_advance

    def __call__(self, batch: Batch) -> list[Labels]:
        """Labels of each utterance."""
        heard = self._head.hear(batch.frames) if self._in_advance else batch.frames
        walks = [_Walk(length, self._head) for length in batch.lengths]
        spoken = _Spoken.start(self._head, len(walks))
        found = dict.fromkeys(range(len(walks)), self._head.config.blank_id)
        while found:
            self._say(spoken, found)
            found = self._find(heard, spoken, walks)
        return [walk.found for walk in walks]

    def _find(self, heard: Tensor, spoken: _Spoken, walks: list[_Walk]) -> dict[int, int]:
        """The next label of each utterance that has one: the inner loop."""
        found: dict[int, int] = {}
        while waiting := [
            row for row, walk in enumerate(walks) if row not in found and not walk.ended
        ]:
            frames = heard[waiting, [walks[row].frame for row in waiting]]
            labels, steps = self._head.split(self._joint(frames, spoken.said[waiting]))
            tokens, durations = labels.argmax(-1).tolist(), self._durations(steps)
            words = zip(waiting, tokens, durations, strict=True)
            found.update({row: token for row, token, by in words if walks[row].take(token, by)})
        return found

    def _durations(self, steps: Tensor) -> list[int]:
        """Frames to advance by, for logits (B, n); 0 of an RNN-T."""
        durations = self._head.config.durations
        if not durations:
            return [0] * len(steps)
        return [durations[place] for place in steps.argmax(-1).tolist()]

    def _joint(self, frames: Tensor, said: Tensor) -> Tensor:
        joint = self._head.joint
        if not self._in_advance:
            frames, said = joint.encoder(frames), joint.predictor(said)
        logits: Tensor = joint(frames, said)
        return logits

    def _say(self, spoken: _Spoken, found: dict[int, int]) -> None:
        """Have the predictor hear a label of each of these utterances."""
        rows, labels = list(found), torch.tensor(list(found.values()))
        before = PredictorState(spoken.hidden[:, rows], spoken.cell[:, rows])
        said, after = self._head.predictor(labels, before)
        spoken.said[rows] = self._head.joint.predictor(said) if self._in_advance else said
        spoken.hidden[:, rows], spoken.cell[:, rows] = after.hidden, after.cell


@dataclass(frozen=True, eq=False)
class _Spoken:
    """The predictor of B utterances: its word (B, H) or its projection (B, J), and (N, B, H)."""

    said: Tensor
    hidden: Tensor
    cell: Tensor

    @classmethod
    def start(cls, head: Transducer, rows: int) -> _Spoken:
        config, state = head.config, head.predictor.start(rows)
        assert config.joint_size == config.predictor_size, "one tensor holds either"
        return cls(torch.zeros(rows, config.joint_size), state.hidden.clone(), state.cell.clone())


@dataclass
class _Walk:
    """One utterance's way over its frames."""

    length: int
    head: Transducer
    frame: int = 0
    found: Labels = field(default_factory=Labels)
    _in_frame: int = 0

    @property
    def ended(self) -> bool:
        return self.frame >= self.length

    def take(self, token: int, duration: int) -> bool:
        """Go on by the joint's word on the frame; whether it was a label."""
        config = self.head.config
        if token == config.blank_id:
            self._advance(max(duration, 1))
            return False
        self.found.add(token, self.frame)
        self._in_frame += 1
        self._advance(duration or int(self._in_frame >= config.max_symbols))
        return True

    def _advance(self, frames: int) -> None:
        if frames:
            self.frame, self._in_frame = self.frame + frames, 0
