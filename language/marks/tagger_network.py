"""The network of the tagger: gated convolutions over words, which see four words ahead at most.

Word by word it says how likely each capital and each mark is. What a layer sees is given by
`TAPS`, places relative to a word: two before and two after it twice, then every fifth one back to
the twentieth. (Gated convolutions as language models: Dauphin 2017, section 2.)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.language.marks.marked_words import Capital, Mark
from earshot.models.errors import ConfigError

TAPS = ((-2, -1, 0, 1, 2), (-2, -1, 0, 1, 2), (-20, -15, -10, -5, 0))
LEFT = max(-min(taps) for taps in TAPS)
"""Words before a word that a layer looks back at."""
MARKS = [mark for mark in Mark if mark != Mark.UNSURE]
CAPITALS = list(Capital)
PAUSES = 8
"""Classes of pauses, see `pauses.py`."""
_MOST = 1 << 20


@dataclass(frozen=True)
class TaggerConfig:
    """words: of the vocabulary. hashed: rows that all other words share. ends: rows of endings.

    size: of the layers. Raises ConfigError.
    """

    words: int = 16000
    hashed: int = 4096
    ends: int = 2048
    word_size: int = 64
    end_size: int = 32
    size: int = 128

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if type(value) is not int or not 1 <= value <= _MOST:
                raise ConfigError(f"{name} is {value!r}, must be 1 to {_MOST}")


class GatedConv(nn.Module):
    """One layer: a word's row, plus what it takes from the words at `taps`."""

    def __init__(self, size: int, taps: tuple[int, ...]) -> None:
        super().__init__()
        self.taps = taps
        self.norm = nn.LayerNorm(size)
        self.mix = nn.Linear(len(taps) * size, 2 * size)

    def forward(self, rows: Tensor, seen: Tensor) -> Tensor:
        """Rows (B, T, D) to rows; `seen` (B, T, taps) is 0 where a tap may not look."""
        normed = self.norm(rows)
        taken = [
            _shifted(normed, tap) * seen[..., place, None] for place, tap in enumerate(self.taps)
        ]
        return rows + self.gated(torch.cat(taken, dim=-1))

    def gated(self, taken: Tensor) -> Tensor:
        """From the rows at all taps, side by side, to what is added."""
        return functional.glu(self.mix(taken), dim=-1)


class TaggerNetwork(nn.Module):
    """Words, by numbers, to logits of marks and capitals."""

    def __init__(self, config: TaggerConfig) -> None:
        super().__init__()
        self.config = config
        self.word = nn.Embedding(config.words + config.hashed, config.word_size)
        self.begins = nn.Embedding(config.ends, config.end_size)
        self.ends = nn.Embedding(config.ends, config.end_size)
        self.pause = nn.Embedding(PAUSES, config.end_size)
        self.join = nn.Linear(config.word_size + 3 * config.end_size, config.size)
        self.layers = nn.ModuleList(GatedConv(config.size, taps) for taps in TAPS)
        self.norm = nn.LayerNorm(config.size)
        self.head = nn.Linear(config.size, len(MARKS) + len(CAPITALS))

    def embed(self, numbers: Tensor, pauses: Tensor) -> Tensor:
        """Numbers (..., 3) of words, beginnings and endings, and pauses (...), to rows (..., D)."""
        word, begins, ends = numbers.unbind(-1)
        parts = [self.word(word), self.begins(begins), self.ends(ends), self.pause(pauses)]
        rows: Tensor = self.join(torch.cat(parts, dim=-1))
        return rows

    def forward(self, numbers: Tensor, pauses: Tensor, text: Tensor, segment: Tensor) -> Tensor:
        """Logits (B, T, marks + capitals) of numbers (B, T, 3).

        text, segment (B, T): which text and which segment of it a word is in, by number. A word
        sees back within its text, and ahead within its segment.
        """
        rows = self.embed(numbers, pauses)
        for layer in self.layers:
            assert isinstance(layer, GatedConv)
            rows = layer(rows, visible(text, segment, layer.taps))
        logits: Tensor = self.head(self.norm(rows))
        return logits


def visible(text: Tensor, segment: Tensor, taps: tuple[int, ...]) -> Tensor:
    """Which taps of a word are words that it may see, as 0 and 1: (B, T, taps)."""
    seen = [
        (_shifted(group[..., None] + 1, tap)[..., 0] == group + 1).float()
        for tap in taps
        for group in ((segment if tap > 0 else text),)
    ]
    return torch.stack(seen, dim=-1)


def _shifted(rows: Tensor, by: int) -> Tensor:
    """Rows (B, T, D), each the one that stands `by` places further; 0 beyond either end."""
    if not by:
        return rows
    length = rows.shape[1]
    if by > 0:
        return functional.pad(rows[:, by:], (0, 0, 0, min(by, length)))
    return functional.pad(rows[:, : max(length + by, 0)], (0, 0, min(-by, length), 0))
