"""Tags words as they come: what is known already is kept, and only what can change is done anew.

A few words cost what it costs to call some thirty operations, so many segments share these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
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
        [tagged] = self.tag_all([(keys, known)])
        return tagged

    def tag_all(self, asked: Sequence[tuple[Sequence[Key], Tagged]]) -> list[Tagged]:
        """Tags of several segments, each as `tag` gives them, in one pass of the network."""
        segments = [_Segment(tuple(keys), known) for keys, known in asked]
        changed = [each for each in segments if each.keys != each.known.keys]
        if changed:
            with torch.inference_mode():
                self._run(changed)
        return [each.tagged for each in segments]

    def _run(self, segments: Sequence[_Segment]) -> None:
        """Tag what is new or can change."""
        words = [each.keys[each.same :] for each in segments]
        embedded = self._embed([key for own in words for key in own])
        new: Sequence[Tensor] = torch.split_with_sizes(embedded, [len(own) for own in words])
        for layer in self._layers:
            for each, own in zip(segments, new, strict=True):
                each.take(own)
            new = _outputs(layer, segments)
        logits = self.network.head(self.network.norm(torch.cat(list(new))))
        tags = iter(_tags(logits))
        for each, own in zip(segments, new, strict=True):
            each.tag([next(tags) for _ in own])

    def _embed(self, keys: Sequence[Key]) -> Tensor:
        found = [self.numbers.of(word) for word, _ in keys]
        numbers = torch.tensor(found, dtype=torch.int64).reshape(-1, 3)
        pauses = torch.tensor([pause for _, pause in keys], dtype=torch.int64)
        return self.network.embed(numbers, pauses)


class _Segment:
    """One segment on its way through the layers.

    same: words that are as before. kept: rows of the next layer's input that stay. rows: the input
    of each layer so far.
    """

    def __init__(self, keys: tuple[Key, ...], known: Tagged) -> None:
        self.keys = keys
        self.known = known
        self.tagged = known
        self.same = _common(keys, known.keys)
        self.kept = known.before + self.same
        self.rows: list[Tensor] = []

    def take(self, new: Tensor) -> None:
        """The next layer's input: rows that stay, then new ones."""
        before = self.known.rows
        self.rows.append(torch.cat((before[len(self.rows)][: self.kept], new)) if before else new)

    def look_ahead(self, ahead: int) -> int:
        """The first row that a layer changes that looks so far ahead.

        A word may look ahead, but no further back than where its own segment begins.
        """
        self.kept = max(self.kept - ahead, self.known.before)
        return self.kept

    def tag(self, new: Sequence[Tag]) -> None:
        """Tags of the last rows."""
        known = self.known
        tags = (*known.tags[: self.kept - known.before], *new)
        self.tagged = Tagged(self.keys, tags, known.before, tuple(self.rows))


def _outputs(layer: GatedConv, segments: Sequence[_Segment]) -> Sequence[Tensor]:
    """The layer's rows of each segment that are new, or that see what is."""
    rows = [each.rows[-1] for each in segments]
    sizes = np.array([len(own) for own in rows])
    firsts = np.array([each.look_ahead(max(layer.taps)) for each in segments])
    own, seen = _places(sizes, firsts, layer.taps)
    whole = torch.cat(rows)
    normed = torch.cat((layer.norm(whole), whole.new_zeros(1, whole.size(1))))
    new = whole[own] + layer.gated(normed[seen].flatten(1))
    return torch.split_with_sizes(new, (sizes - firsts).tolist())


def _places(
    sizes: NDArray[np.int64], firsts: NDArray[np.int64], taps: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Where the last rows of segments are, from `firsts` on, and where what their taps see is.

    All segments lie one after the other, and after them a row that stands for what is in none.
    """
    counts, begins = sizes - firsts, np.cumsum(sizes) - sizes
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    own = np.repeat(begins + firsts, counts) + within
    seen = own[:, None] + np.array(taps)
    low, high = np.repeat(begins, counts)[:, None], np.repeat(begins + sizes, counts)[:, None]
    seen = np.where((low <= seen) & (seen < high), seen, sizes.sum())
    return torch.from_numpy(own), torch.from_numpy(seen)


def _tags(logits: Tensor) -> list[Tag]:
    marks = logits[:, : len(MARKS)].argmax(-1).tolist()
    capitals = logits[:, len(MARKS) :].argmax(-1).tolist()
    pairs = zip(capitals, marks, strict=True)
    return [Tag(CAPITALS[capital], MARKS[mark]) for capital, mark in pairs]


def _common(one: Sequence[Key], other: Sequence[Key]) -> int:
    """How many keys both begin with."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
