"""NeMo's boosting tree (Andrusenko 2025) as a boost table, and an n-gram as boosts of a walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from arpa_walk import ArpaWalk

from earshot.decoder_kernels.boosting.boost import BoostTable

ROOT = 0


def table_of(tree: Mapping[str, Any]) -> BoostTable:
    """What NeMo's arcs and back-offs earn: an arc's score, more than leaving its state costs.

    A state's pending bonus is what the back-offs from there to the root take back.
    """
    back_to, back_off = tree["backoff_to"], tree["backoff_w"]
    arcs: dict[int, list[tuple[int, int, float]]] = {}
    for source, target, label, weight in tree["arcs"]:
        if target != ROOT:
            arcs.setdefault(source, []).append((label, target, weight))

    def lost(state: int) -> float:
        return 0.0 if state == ROOT else -back_off[state] + lost(back_to[state])

    order, links, bonuses = [ROOT], [(0, 0, 0, 0)], [(0.0, 0.0)]
    places = {ROOT: 0}
    rows: list[list[float]] = []
    for state in order:
        children = sorted(arcs.get(state, []))
        links[places[state]] = (links[places[state]][0], len(order), len(children), 0)
        for label, target, weight in children:
            places[target] = len(order)
            order.append(target)
            links.append((label, 0, 0, 0))
            bonuses.append((lost(target), weight + lost(state) - lost(target)))
    for state in order:
        token, first, count, _ = links[places[state]]
        rows.append([token, first, count, places[back_to[state]]])
    return BoostTable(
        torch.tensor(rows, dtype=torch.int32).T.contiguous(),
        torch.tensor(bonuses, dtype=torch.float64).T.contiguous(),
    )


class LmWalk:
    """What a language model adds to labels, in the place of boosts; see `BoostWalk`."""

    def __init__(self, lm: ArpaWalk, weight: float) -> None:
        self._lm, self._weight = lm, weight
        self._said: list[tuple[int, ...]] = [()]
        self._places: dict[tuple[int, ...], int] = {(): 0}

    def step(self, state: int, token: int) -> int:
        """The labels so far and this one."""
        said = (*self._said[state], token)
        if said not in self._places:
            self._places[said] = len(self._said)
            self._said.append(said)
        return self._places[said]

    def pending(self, state: int) -> float:
        """Nothing is taken back."""
        return 0.0

    def completed(self, state: int) -> float:
        """What the last label costs after those before it."""
        *before, last = self._said[state]
        return self._weight * float(self._lm.scores(before)[last])


class Both:
    """Boosts of two kinds."""

    def __init__(self, *walks: Any) -> None:
        self._walks = walks
        self._states: list[tuple[int, ...]] = [(0,) * len(walks)]
        self._places = {self._states[0]: 0}

    def step(self, state: int, token: int) -> int:
        """The states of both."""
        after = tuple(
            walk.step(each, token)
            for walk, each in zip(self._walks, self._states[state], strict=True)
        )
        if after not in self._places:
            self._places[after] = len(self._states)
            self._states.append(after)
        return self._places[after]

    def pending(self, state: int) -> float:
        """Of both together."""
        return self._sum("pending", self._states[state])

    def completed(self, state: int) -> float:
        """Of both together."""
        return self._sum("completed", self._states[state])

    def _sum(self, bonus: str, states: Sequence[int]) -> float:
        pairs = zip(self._walks, states, strict=True)
        return sum(getattr(walk, bonus)(state) for walk, state in pairs)
