"""A back-off n-gram over a transducer's labels, as a beam fuses it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.decoder_kernels.errors import InvalidConfig
from earshot.decoder_kernels.native import kernels
from earshot.native.dlpack import dlpack_capsule


@dataclass(frozen=True, eq=False)
class TokenLm:
    """Contexts of labels as states (Katz 1987); state 0 is the empty one, which has all labels.

    first_arc `(S + 1,)` int64: where each state's arcs begin, and the last one's end; they go by
    their labels. token, target `(A,)` int32, log_prob `(A,)` float32 of each arc, natural.
    shorter `(S,)` int32, back_off `(S,)` float32: the state, of a shorter context, that says the
    rest, and what it costs to go there; each has a smaller number. start: before the first label.
    Raises InvalidConfig for arrays that are not of one model.
    """

    first_arc: Tensor
    token: Tensor
    target: Tensor
    log_prob: Tensor
    shorter: Tensor
    back_off: Tensor
    start: int

    def __post_init__(self) -> None:
        states, arcs = len(self.shorter), len(self.token)
        if not (len(self.first_arc) == states + 1 == len(self.back_off) + 1 > 1):
            raise InvalidConfig(
                "a token LM has a first arc, a shorter state and a back-off of each"
            )
        if not (len(self.target) == len(self.log_prob) == arcs == int(self.first_arc[-1])):
            raise InvalidConfig(f"a token LM's arcs must be {arcs}")
        if int(self.first_arc[0]) or bool((self.first_arc.diff() < 0).any()):
            raise InvalidConfig("a token LM's arcs lie side by side")
        if not self._has_every_label() or not 0 <= self.start < states:
            raise InvalidConfig("a token LM's state 0 has all labels, and its start is a state")
        if not _within(self.token, self.vocab_size) or not _within(self.target, states):
            raise InvalidConfig("a token LM's arcs lead from labels to states")
        if not self._goes_by_labels():
            raise InvalidConfig("a token LM's arcs of a state go by their labels")
        if not (self.log_prob.isfinite().all() and self.back_off.isfinite().all()):
            raise InvalidConfig("a token LM's logarithms must be finite")
        ids = torch.arange(states)[1:]
        if bool(((self.shorter[1:] < 0) | (self.shorter[1:] >= ids)).any()):
            raise InvalidConfig("a shorter context has a smaller number")

    def _has_every_label(self) -> bool:
        tokens = self.token[: self.vocab_size]
        return self.vocab_size > 0 and torch.equal(tokens.long(), torch.arange(self.vocab_size))

    def _goes_by_labels(self) -> bool:
        begins = torch.zeros(len(self.token) + 1, dtype=torch.bool)
        begins[self.first_arc.long()] = True
        return bool(((self.token.long().diff() > 0) | begins[1:-1]).all())

    @property
    def vocab_size(self) -> int:
        """V."""
        return int(self.first_arc[1])

    def native(self) -> kernels.TokenLm:
        """A copy for the kernels."""
        return kernels.TokenLm(
            dlpack_capsule(self.first_arc.long().contiguous()),
            dlpack_capsule(self.token.int().contiguous()),
            dlpack_capsule(self.target.int().contiguous()),
            dlpack_capsule(self.log_prob.float().contiguous()),
            dlpack_capsule(self.shorter.int().contiguous()),
            dlpack_capsule(self.back_off.float().contiguous()),
        )


def _within(numbers: Tensor, stop: int) -> bool:
    return not bool(((numbers < 0) | (numbers >= stop)).any())
