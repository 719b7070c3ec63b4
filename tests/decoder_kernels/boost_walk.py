"""A boost table walked in plain Python: the kernels have their own walk."""

from collections.abc import Iterator

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.boosting.phrase_trie import ROOT


class BoostWalk:
    """What a state and a word lead to, and what that earns. None is the table of no boosts."""

    def __init__(self, table: BoostTable | None) -> None:
        self._empty = table is None
        if table is not None:
            tokens, first, count, self._failure = table.links.tolist()
            self._pending, self._completed = table.bonuses.tolist()
            self._children = [
                {tokens[child]: child for child in range(first[state], first[state] + count[state])}
                for state in range(table.num_states)
            ]

    def step(self, state: int, token: int) -> int:
        """The state after ``token``."""
        for suffix in self._suffixes(state):
            if token in self._children[suffix]:
                return self._children[suffix][token]
        return ROOT

    def pending(self, state: int) -> float:
        """The bonus that is taken back if the phrase is not completed."""
        return 0.0 if self._empty else self._pending[state]

    def completed(self, state: int) -> float:
        """The bonus of the phrases that end here."""
        return 0.0 if self._empty else self._completed[state]

    def _suffixes(self, state: int) -> Iterator[int]:
        while not self._empty:
            yield state
            if state == ROOT:
                return
            state = self._failure[state]
