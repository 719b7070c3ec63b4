"""Words from outside a graph, as a trie of their spellings that hangs at its loop node.

All of a word's path costs what the word does, most often as much as an unknown one. Were that due
at its first token, a beam of usual width would drop the word before its bonus is paid, which its
last arc does: it would be heard in wide beams alone. So on the way only what remains after the
bonus is due, in even parts, and the rest with the last arc.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from earshot.decoder_kernels.graph.graph import Arc

Spelling = tuple[int, ...]
LOOP = -1
"""Target of a word's last arc: the graph's loop node."""


class OovWord(NamedTuple):
    """A word from outside, by its id in the search. cost: as the graph counts."""

    spelling: Spelling
    word: int
    cost: float


class OovTrie:
    """The arcs of words, of which several may be spelled alike.

    bonuses: what a word may earn, as the graph counts; 0 where absent. Where words share their
    beginning, the least of what each has due counts.
    """

    def __init__(self, words: Collection[OovWord], bonuses: Mapping[int, float]) -> None:
        self._due: dict[Spelling, float] = {(): 0.0}
        for spelling, word, cost in words:
            net = max(0.0, cost - bonuses.get(word, 0.0))
            for length in range(1, len(spelling)):
                due = net * length / len(spelling)
                self._due[spelling[:length]] = min(due, self._due.get(spelling[:length], due))
        self._nodes = {beginning: node for node, beginning in enumerate(self._due)}
        self.arcs = tuple(
            sorted(
                [*self._inner(), *map(self._last, words)],
                key=lambda arc: (arc.source, arc.label, arc.word),
            )
        )

    @property
    def num_nodes(self) -> int:
        """Nodes of the trie, of which 0 is the root, which stands for the loop node."""
        return len(self._nodes)

    def _inner(self) -> list[Arc]:
        return [
            Arc(
                self._nodes[beginning[:-1]],
                beginning[-1] + 1,
                0,
                self._due[beginning] - self._due[beginning[:-1]],
                node,
            )
            for beginning, node in self._nodes.items()
            if beginning
        ]

    def _last(self, word: OovWord) -> Arc:
        before, label = word.spelling[:-1], word.spelling[-1] + 1
        return Arc(self._nodes[before], label, word.word, word.cost - self._due[before], LOOP)
