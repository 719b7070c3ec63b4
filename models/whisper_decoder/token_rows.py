"""The rows of a decoder's tokens, in as little memory as says the same."""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models.checkpoints.files.int8_rows import float_rows, store_rows

ROWS_AT_ONCE = 4096


class TokenRows:
    """Rows of a table (N, D) of float32 numbers, which must not change from now on.

    A table that was stored as int8 a row, as the bundled model's is, is kept so if it comes back to
    the bit: a quarter of 80 MB for Whisper's tokens. Another one is kept as it is.
    """

    def __init__(self, table: Tensor) -> None:
        blocks = torch.split(table, ROWS_AT_ONCE)
        stored = [block for block in map(_exact, blocks) if block is not None]
        self._scale: Tensor | None = None
        if len(stored) == len(blocks):
            self._rows = torch.cat([rows for rows, _ in stored])
            self._scale = torch.cat([scale for _, scale in stored])
        else:
            self._rows = table.detach()

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the rows take."""
        return self._rows.nbytes + (0 if self._scale is None else self._scale.nbytes)

    def __call__(self, tokens: Tensor) -> Tensor:
        """Rows (..., D) of tokens (...)."""
        rows = self._rows[tokens]
        return rows if self._scale is None else rows.float().mul_(self._scale[tokens].unsqueeze(-1))


def _exact(block: Tensor) -> tuple[Tensor, Tensor] | None:
    """Rows and scales of which a block is the product, to the bit; None where it is of none."""
    rows, scale = store_rows(block)
    return (rows, scale) if torch.equal(float_rows(rows, scale), block) else None
