"""Position-wise feed-forward layer and the activations that models may name."""

from __future__ import annotations

from torch import Tensor, nn

from earshot.models.config import Activation
from earshot.models.layers.dropout import Dropout

ACTIVATIONS: dict[Activation, type[nn.Module]] = {
    "swish": nn.SiLU,
    "relu": nn.ReLU,
    "gelu": nn.GELU,
}


class FeedForward(nn.Module):
    """w_2(dropout(activation(w_1 x))), (..., D) to (..., D)."""

    def __init__(self, size: int, hidden: int, activation: Activation, dropout: float) -> None:
        super().__init__()
        self.w_1 = nn.Linear(size, hidden)
        self.activation = ACTIVATIONS[activation]()
        self.dropout = Dropout(dropout)
        self.w_2 = nn.Linear(hidden, size)

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (…, D) to (…, D)."""
        y: Tensor = self.w_2(self.dropout(self.activation(self.w_1(x))))
        return y
