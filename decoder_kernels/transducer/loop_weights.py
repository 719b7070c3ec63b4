"""A transducer's head as label looping takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from torch import Tensor

from earshot.decoder_kernels.errors import InvalidConfig
from earshot.decoder_kernels.native import kernels
from earshot.native.dlpack import DlpackCapsule, dlpack_capsule

Linear: TypeAlias = tuple[Tensor, Tensor]
"""Weight `(N, K)` and bias `(N,)` of a linear layer."""


@dataclass(frozen=True, eq=False)
class LoopWeights:
    """Predictor and joint over V labels, of which number V is the blank.

    encoder: D to J. predictor: H to J. labels: J to V + 1. durations: J to those of a TDT, in the
    order of `duration_frames`; J to 0 for an RNN-T. embedding `(V + 1, H)`. lstm: of each layer
    from its input and from what it said last, gates in the order input, forget, cell, output.
    max_symbols: labels within one frame before the next is forced. Raises InvalidConfig for shapes
    that are not of one head.
    """

    encoder: Linear
    predictor: Linear
    labels: Linear
    durations: Linear
    embedding: Tensor
    lstm: Sequence[tuple[Linear, Linear]]
    activation: Literal["relu", "sigmoid", "tanh"]
    duration_frames: Sequence[int]
    max_symbols: int

    def __post_init__(self) -> None:
        (outputs, joint), inputs = self.labels[0].shape, self.embedding.shape[1]
        hidden = self.predictor[0].shape[1]
        self._require("labels", self.labels, outputs, joint)
        self._require("encoder", self.encoder, joint, self.encoder_size)
        self._require("predictor", self.predictor, joint, hidden)
        self._require("durations", self.durations, len(self.duration_frames), joint)
        for from_input, from_hidden in self.lstm:
            self._require("from_input", from_input, 4 * hidden, inputs)
            self._require("from_hidden", from_hidden, 4 * hidden, hidden)
            inputs = hidden
        if not self.lstm or len(self.embedding) != outputs or outputs < 2:
            raise InvalidConfig("a head has a layer, two units, and an embedding of each unit")
        if self.max_symbols < 1 or min(self.duration_frames, default=0) < 0:
            raise InvalidConfig("max_symbols must be at least 1, durations 0")

    def _require(self, name: str, layer: Linear, outputs: int, inputs: int) -> None:
        weight, bias = layer
        if weight.shape != (outputs, inputs) or bias.shape != (outputs,):
            shapes = f"{tuple(weight.shape)} and {tuple(bias.shape)}"
            raise InvalidConfig(f"{name} must be ({outputs}, {inputs}) and ({outputs},): {shapes}")

    @property
    def encoder_size(self) -> int:
        """D."""
        return self.encoder[0].shape[1]

    @property
    def vocab_size(self) -> int:
        """V, which is the blank's number."""
        return len(self.embedding) - 1

    def native(self, processor: str) -> kernels.LabelLoop:
        """A loop whose weights were copied, for a kind of processor."""
        return kernels.LabelLoop(
            encoder=_copied(self.encoder),
            predictor=_copied(self.predictor),
            labels=_copied(self.labels),
            durations=_copied(self.durations),
            embedding=_floats(self.embedding),
            lstm=[(_copied(entered), _copied(kept)) for entered, kept in self.lstm],
            activation=self.activation,
            duration_frames=list(self.duration_frames),
            max_symbols=self.max_symbols,
            processor=processor,
        )


def _copied(layer: Linear) -> kernels.LoopLayer:
    weight, bias = layer
    return kernels.LoopLayer(_floats(weight), _floats(bias))


def _floats(tensor: Tensor) -> DlpackCapsule:
    return dlpack_capsule(tensor.detach().cpu().float().contiguous())
