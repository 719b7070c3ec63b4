"""The joint network: what a frame and the labels so far say about the next label."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from earshot.models.transducer_config import JointActivation, TransducerConfig

ACTIVATIONS = {"relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh}


class Joint(nn.Module):
    """Sums of frames and labels, either projected to J once (Bataev 2024, section 3.4)."""

    def __init__(self, config: TransducerConfig) -> None:
        super().__init__()
        self.activation: JointActivation = config.activation
        self.encoder = nn.Linear(config.encoder_size, config.joint_size)
        self.predictor = nn.Linear(config.predictor_size, config.joint_size)
        self.output = nn.Linear(config.joint_size, config.num_outputs)

    def forward(self, frames: Tensor, labels: Tensor) -> Tensor:
        """Projected frames (…, J) and projected labels (…, J) to logits (…, V + 1 + durations).

        Labels come first, then the blank, then the durations of a TDT.
        """
        logits: Tensor = self.output(self.activated(frames, labels))
        return logits

    def activated(self, frames: Tensor, labels: Tensor) -> Tensor:
        """The hidden units (…, J) of projected frames and labels, which the output reads."""
        return ACTIVATIONS[self.activation](frames + labels)
