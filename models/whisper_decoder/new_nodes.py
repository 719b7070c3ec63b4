"""Nodes that have been added to growing texts, as a padded batch on the decoder's device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from earshot.models.whisper_decoder.growing_texts import GrowingText


@dataclass(frozen=True)
class NewNodes:
    """The M new nodes of R texts, padded, and the N nodes that they may see.

    texts (R,): which. tokens, depths (R, M). visible (R, 1, M, N). Of each of the Q nodes that are
    none of the padding: rows (Q,) its row among R, places (Q,) its place among M, owners (Q,) its
    text, nodes (Q,) its number there.
    """

    texts: Tensor
    tokens: Tensor
    depths: Tensor
    visible: Tensor
    rows: Tensor
    places: Tensor
    owners: Tensor
    nodes: Tensor

    @classmethod
    def of(cls, texts: Sequence[GrowingText], device: torch.device) -> NewNodes:
        """Four copies to the device, however many texts."""
        growing = [number for number, text in enumerate(texts) if text.scored < len(text)]
        new = [range(texts[number].scored, len(texts[number])) for number in growing]
        padded = np.zeros((2, len(new), max(map(len, new))), np.int64)
        for row, (number, nodes) in enumerate(zip(growing, new, strict=True)):
            text = texts[number]
            padded[0, row, : len(nodes)] = text.tokens[nodes.start :]
            padded[1, row, : len(nodes)] = text.depths[nodes.start :]
        real = [
            (row, place, growing[row], node)
            for row, nodes in enumerate(new)
            for place, node in enumerate(nodes)
        ]
        tokens, depths = torch.from_numpy(padded).to(device)
        visible = _visible([texts[number] for number in growing], new).to(device)
        rows, places, owners, nodes = torch.tensor(real).T.to(device)
        numbers = torch.tensor(growing, device=device)
        return cls(numbers, tokens, depths, visible, rows, places, owners, nodes)


def _visible(texts: Sequence[GrowingText], new: Sequence[range]) -> Tensor:
    """(R, 1, M, N) bool: the nodes on the way to each new one of each text."""
    visible = np.zeros((len(texts), 1, max(map(len, new)), max(map(len, texts))), np.bool_)
    visible[..., 0] = True  # padding sees something, so that it is finite
    for row, (text, nodes) in enumerate(zip(texts, new, strict=True)):
        for place, node in enumerate(nodes):
            visible[row, 0, place, text.path(node)] = True
    return torch.from_numpy(visible)
