"""Whisper's stem: two convolutions of three frames each, of which the second halves their rate.

A frame put out sees two feature frames to both sides of its own. Before a segment's first frame
Whisper pads: its features are zero there, and so is what the first convolution puts out. What
follows a segment's last feature frame is not made up: a frame that would see it is not put out.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

KERNEL = 3
PAST = 2
"""Feature frames before a window that its first output sees."""


class WhisperStem(nn.Module):
    """conv, GELU, conv of stride 2, GELU (Radford 2022, section 2.2)."""

    def __init__(self, input_dim: int, output_size: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(input_dim, output_size, KERNEL)
        self.conv2 = nn.Conv1d(output_size, output_size, KERNEL, stride=2)

    def forward(self, features: Tensor, begins: Tensor) -> Tensor:
        """(B, 2 + W, F), of which two frames are past, to (B, (W - 1) // 2, D).

        begins (B,) bool: rows of which the window is a segment's first, with zeros for a past.
        """
        x = functional.gelu(self.conv1(features.transpose(1, 2)))
        before = torch.arange(x.size(2), device=x.device) == 0
        x = x.masked_fill(begins[:, None, None] & before, 0.0)
        y: Tensor = functional.gelu(self.conv2(x)).transpose(1, 2)
        return y
