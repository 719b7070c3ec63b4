"""A factored time-delay layer: two thin matrices, each over two frames (Povey 2018, section 3).

A layer has a delay: its output at a frame waits for the frame after it. `begin` takes a
recording's first frames, `step` those that follow what is cached; together they compute the same
as one `begin` of the whole.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.layers.dropout import Dropout

BATCH_NORM_EPS = 1e-3


class FactoredLayer(nn.Module):
    """x[t] -> scale * x[t] + norm(relu(affine(z[t], z[t + 1]))), z[t] = linear(x[t - 1], x[t]).

    Before a recording's first frame x is zero. Only one of `every` outputs is computed. `linear`
    is kept close to a multiple of a matrix with orthonormal rows by `constrain`, without which the
    factors would drift.
    """

    def __init__(
        self, size: int, bottleneck: int, bypass_scale: float, dropout: float, every: int = 1
    ) -> None:
        super().__init__()
        self.size, self.bottleneck, self.bypass_scale = size, bottleneck, bypass_scale
        self.every = every
        self.linear = nn.Linear(size, 2 * bottleneck, bias=False)  # rows for t - 1, then for t
        self.affine = nn.Linear(2 * bottleneck, size)  # columns for t, then for t + 1
        self.norm = nn.BatchNorm1d(size, eps=BATCH_NORM_EPS, affine=False)
        self.dropout = Dropout(dropout)

    @property
    def cache_size(self) -> int:
        """Numbers that a stream keeps: what `linear` made of its last frame, and the frame."""
        return 2 * self.bottleneck + self.size

    def begin(self, x: Tensor) -> Tensor:
        """The first frames (B, T, D) to (B, T - 1, D); every so many of those, where `every`."""
        _, z = self._thin(x)
        return self._close(x, z, first=0)

    def prime(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """`begin`, and what `step` needs after it: (B, cache_size)."""
        earlier, z = self._thin(x)
        cache = torch.cat((earlier[:, -1], z[:, -1], x[:, -1]), dim=-1)
        return self._close(x, z, first=0), cache

    def step(self, x: Tensor, cache: Tensor) -> tuple[Tensor, Tensor]:
        """Frames (B, T, D) after `cache` (B, cache_size), to T / every of them, one frame behind.

        Returns them and the columns (B, T + 1, cache_size), of which the last is the new cache.
        What was heard before ends just so that the last of every `every` frames is put out.
        """
        size = self.bottleneck
        earlier, now = self.linear(x).chunk(2, dim=-1)
        past = cache.unsqueeze(1)
        earlier = torch.cat((past[..., :size], earlier), dim=1)
        z = torch.cat((past[..., size : 2 * size], now + earlier[:, :-1]), dim=1)
        x = torch.cat((past[..., 2 * size :], x), dim=1)
        return self._close(x, z, first=self.every - 1), torch.cat((earlier, z, x), dim=-1)

    def _thin(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What each frame adds to the one after it, and z."""
        earlier, now = self.linear(x).chunk(2, dim=-1)
        return earlier, now + functional.pad(earlier[:, :-1], (0, 0, 1, 0))

    def _close(self, x: Tensor, z: Tensor, first: int) -> Tensor:
        """The outputs of all frames but the last, every so many of them from `first` on."""
        wanted = slice(first, x.size(1) - 1, self.every)
        pairs = torch.cat((z[:, :-1], z[:, 1:]), dim=-1)[:, wanted]
        y = functional.relu(self.affine(pairs))
        y = self.norm(y.flatten(0, 1)).view_as(y)
        closed: Tensor = self.dropout(y) + self.bypass_scale * x[:, wanted]
        return closed

    @torch.no_grad()
    def constrain(self) -> None:
        """One step towards orthonormal rows, up to a scale (Povey 2018, section 2.2)."""
        matrix = self._rows()
        product = matrix @ matrix.t()
        squares = torch.trace(product @ product.t())
        scale = squares / torch.trace(product)
        # Povey's step is 1/8, and halves where the rows are far from it, so as not to overshoot.
        far = squares * product.size(0) / torch.trace(product) ** 2
        speed = 0.125 if far <= 1.02 else 0.0625 if far <= 1.1 else 0.03125
        product.diagonal().sub_(scale)
        self._take(matrix - (4.0 * speed / scale) * (product @ matrix))

    def _rows(self) -> Tensor:
        """`linear` over both frames as one matrix (bottleneck, 2 D)."""
        return torch.cat(self.linear.weight.chunk(2, dim=0), dim=1)

    def _take(self, matrix: Tensor) -> None:
        self.linear.weight.copy_(torch.cat(matrix.chunk(2, dim=1), dim=0))
