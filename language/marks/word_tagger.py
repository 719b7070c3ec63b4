"""Tags words as they come: what is known already is kept, and only what can change is done anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from earshot.language.marks.marked_words import Capital, Mark
from earshot.language.marks.tagger_network import CAPITALS, LEFT, MARKS, GatedConv, TaggerNetwork
from earshot.language.marks.word_numbers import WordNumbers

Key = tuple[str, int]
"""A word in lower case, and the class of the pause after it (`pauses.py`)."""


@dataclass(frozen=True)
class Tag:
    """A word's capital, and the mark after it."""

    capital: Capital
    mark: Mark


@dataclass(frozen=True)
class Tagged:
    """Words of a segment with their tags, and what the next call needs of them.

    rows: the input `(B + N, D)` of each layer, of the `before` words of earlier segments first.
    """

    keys: tuple[Key, ...] = ()
    tags: tuple[Tag, ...] = ()
    before: int = 0
    rows: tuple[Tensor, ...] = field(default=(), compare=False)

    def as_past(self) -> Tagged:
        """What the next segment sees of this one and of those before."""
        rows = tuple(layer[-LEFT:] for layer in self.rows)
        return Tagged(before=len(rows[0]) if rows else 0, rows=rows)


NOTHING_TAGGED = Tagged()


class WordTagger:
    """A network with its vocabulary, and forms of words that have their own ("McDonald").

    May be called from any thread.
    """

    def __init__(
        self, network: TaggerNetwork, numbers: WordNumbers, forms: Mapping[str, str]
    ) -> None:
        self.network = network.eval().requires_grad_(False)
        self.numbers = numbers
        self.forms = dict(forms)
        self._layers = [layer for layer in network.layers if isinstance(layer, GatedConv)]

    def tag(self, keys: Sequence[Key], known: Tagged = NOTHING_TAGGED) -> Tagged:
        """Tags of all words of a segment.

        known: what an earlier call has returned of the segment, or `as_past` of the one before.
        Words that begin as those did are not looked at again, but for those whose following words
        have changed. The tags are those that a first call with all words would find.
        """
        same = _common(keys, known.keys)
        if same == len(keys) == len(known.keys):
            return known
        with torch.inference_mode():
            rows, first, logits = self._run(keys, same, known)
        new = _tags(logits)
        return Tagged(tuple(keys), known.tags[:first] + new, known.before, rows)

    def _run(
        self, keys: Sequence[Key], same: int, known: Tagged
    ) -> tuple[tuple[Tensor, ...], int, Tensor]:
        """The rows of each layer, the first word that is tagged anew, and logits from there on."""
        changed = known.before + same
        old = known.rows or (torch.zeros(0, self.network.config.size),) * len(self._layers)
        new, rows, kept = self._embed(keys[same:]), [], changed
        for layer, before in zip(self._layers, old, strict=True):
            whole = torch.cat([before[:kept], new])
            rows.append(whole)
            # A word may look ahead, but no further back than where its own segment begins.
            kept = max(kept - max(layer.taps), known.before)
            new = _outputs(layer, whole, kept)
        logits = self.network.head(self.network.norm(new))
        return tuple(rows), kept - known.before, logits

    def _embed(self, keys: Sequence[Key]) -> Tensor:
        found = [self.numbers.of(word) for word, _ in keys]
        numbers = torch.tensor(found, dtype=torch.int64).reshape(-1, 3)
        pauses = torch.tensor([pause for _, pause in keys], dtype=torch.int64)
        return self.network.embed(numbers, pauses)


def _outputs(layer: GatedConv, rows: Tensor, first: int) -> Tensor:
    """The layer's rows from `first` on, of its input `(N, D)`."""
    ahead, back = max(layer.taps), -min(layer.taps)
    begin = max(first - back, 0)
    normed = layer.norm(rows[begin:])
    count = len(rows) - first
    blank = rows.new_zeros(max(back - first, 0), rows.shape[1])
    padded = torch.cat([blank, normed, rows.new_zeros(ahead, rows.shape[1])])
    taken = torch.cat([padded[back + tap : back + tap + count] for tap in layer.taps], dim=-1)
    return rows[first:] + layer.gated(taken)


def _tags(logits: Tensor) -> tuple[Tag, ...]:
    marks = logits[:, : len(MARKS)].argmax(-1).tolist()
    capitals = logits[:, len(MARKS) :].argmax(-1).tolist()
    pairs = zip(capitals, marks, strict=True)
    return tuple(Tag(CAPITALS[capital], MARKS[mark]) for capital, mark in pairs)


def _common(one: Sequence[Key], other: Sequence[Key]) -> int:
    """How many keys both begin with."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
