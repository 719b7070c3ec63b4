"""Heads and prompt of a NeMo model, beside its transducer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from earshot.models.fastconformer.config import PromptConfig


class CtcHead(nn.Module):
    """A linear layer over V labels and the blank, unit V."""

    def __init__(self, size: int, vocab_size: int) -> None:
        super().__init__()
        self.output = nn.Linear(size, vocab_size + 1)

    def forward(self, encoded: Tensor) -> Tensor:
        """Encoded frames (…, D) to log-probabilities (…, V + 1)."""
        return torch.log_softmax(self.output(encoded), dim=-1)


class Prompt(nn.Sequential):
    """The language told to each frame: a one-hot beside it, and two layers that mix both."""

    def __init__(self, size: int, config: PromptConfig) -> None:
        super().__init__(
            nn.Linear(size + config.size, config.hidden_size),
            nn.ReLU(),
            nn.Linear(config.hidden_size, size),
        )
        self.places = config.size

    def tell(self, encoded: Tensor, languages: Tensor) -> Tensor:
        """Encoded frames (B, T, D) of each row's language (B,), its place in the one-hot."""
        told = nn.functional.one_hot(languages, self.places).to(encoded.dtype)
        beside = told.unsqueeze(1).expand(-1, encoded.shape[1], -1)
        mixed: Tensor = self(torch.cat((encoded, beside), dim=-1))
        return mixed
