"""What a hostile client could bring: log-probabilities, options, boosts, graphs."""

import math
from random import Random
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.graph import TOPOLOGIES, Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions

FINITE = (0.0, -0.0, 1e-45, -1e-45, 1e-30, 1.0, -1.0, -50.0, 1e4, -1e4, 1e30, -1e30, 3e38, -3e38)
EXTREMES = (*FINITE, math.inf, -math.inf, math.nan)
INTEGERS = (-1, 0, 1, 2, 255, 1 << 14, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 40, -(1 << 63))
USUAL = (-0.25, 0.0, 0.5, 1.0, 2.0)
DEAR = (-15_000.0, -1_200.0, -150.0, 0.0, 1.0, 120.0, 1_500.0, 20_000.0)  # clamped, or nearly
MANY_PHRASES = 2_000

Rows = npt.NDArray[np.float32]
T = TypeVar("T")


def well_formed(arrays: np.random.Generator, *shape: int) -> Rows:
    """Log-probabilities ``(..., V)`` that sum up to 1."""
    rows = arrays.standard_normal(shape, np.float32) * np.float32(arrays.choice((0.5, 3.0, 10.0)))
    rows -= np.log(np.exp(rows).sum(axis=-1, keepdims=True))
    return rows


def spoil(dice: Random, arrays: np.random.Generator, rows: Rows) -> None:
    """Change ``(T, V)``; half of the time they stay as they should be."""
    match dice.randrange(8):
        case 0:
            spoiled = arrays.random(rows.shape) < dice.choice((0.001, 0.1, 0.9))
            rows[spoiled] = arrays.choice(EXTREMES, int(spoiled.sum()))
        case 1:
            spoiled = arrays.random(rows.shape) < dice.choice((0.1, 0.9))
            rows[spoiled] = arrays.choice((*FINITE, -math.inf), int(spoiled.sum()))
        case 2:
            rows[arrays.random(len(rows)) < 0.5] = dice.choice(EXTREMES)
        case 3:
            rows[:] = dice.choice(FINITE)


def must_be_refused(rows: Rows) -> bool:
    """Whether a search has to refuse these frames ``(T, V)``."""
    possible = rows > -math.inf  # false for NaN
    return bool((np.isnan(rows) | (rows == math.inf)).any() or not possible.any(axis=1).all())


def mostly(dice: Random, usual: tuple[T, ...], hostile: tuple[T, ...]) -> T:
    return dice.choice(hostile if dice.random() < 0.05 else usual)


def options(dice: Random, max_tokens: int) -> WfstOptions:
    """Raises InvalidConfig where it is impossible."""
    beams = (1e-45, 1e-9, 0.5, 8.0, 17.0, 1e4, 1e9)
    scales = (0.0, 1e-45, 1e-3, 0.7, 1.0, 100.0)
    return WfstOptions(
        beam=mostly(dice, beams, EXTREMES),
        max_active=mostly(dice, (1, 2, max_tokens, dice.randint(1, max_tokens)), INTEGERS),
        lattice_beam=mostly(dice, (0.5, 3.0, 8.0, 1e-9, 1e9), EXTREMES),
        acoustic_scale=mostly(dice, scales, EXTREMES),
        graph_scale=mostly(dice, scales, EXTREMES),
        blank_skip=mostly(dice, (1.0, 1.0, 0.9, 0.01, 1e-45), EXTREMES),
    )


def word_table(dice: Random, graph: Graph, beam: float) -> WordBoostTable:
    """Raises BoostTableError where it is impossible."""
    known = (1, len(graph.word_texts) - 1)

    def word() -> int | tuple[int, ...]:
        if dice.random() < 0.5:
            return mostly(dice, known, (*INTEGERS, len(graph.word_texts)))
        return _tokens(dice, graph.vocab_size, graph.blank_id)

    phrases = [
        WordPhrase(tuple(word() for _ in range(_length(dice))), _weight(dice))
        for _ in range(_count(dice))
    ]
    return WordBoostTable.compile(phrases, graph, beam=beam)


def token_table(dice: Random, vocab_size: int, blank_id: int) -> BoostTable:
    """Raises BoostTableError where it is impossible."""
    phrases = [
        BoostPhrase(_tokens(dice, vocab_size, blank_id), _weight(dice)) for _ in range(_count(dice))
    ]
    return BoostTable.compile(phrases, vocab_size, hold_completed=dice.random() < 0.5)


def _count(dice: Random) -> int:
    return dice.randint(1, MANY_PHRASES) if dice.random() < 0.01 else dice.randint(0, 6)


def _length(dice: Random) -> int:
    return dice.choice((0, 300)) if dice.random() < 0.01 else dice.randint(1, 4)


def _weight(dice: Random) -> float:
    return mostly(dice, (*FINITE, 0.5, 2.0, 8.0, 20.0), EXTREMES)


def _tokens(dice: Random, vocab_size: int, blank_id: int) -> tuple[int, ...]:
    if dice.random() < 0.01:
        return tuple(dice.choice((*INTEGERS, blank_id, vocab_size)) for _ in range(3))
    others = [token for token in range(min(vocab_size, 8)) if token != blank_id]
    return tuple(dice.choice(others) for _ in range(_length(dice))) if others else (blank_id,)


def graph(dice: Random, most_nodes: int = 30) -> Graph:
    """Anything from one node to some dozens. Raises GraphError where it cannot be searched."""
    nodes, vocab_size = dice.randint(1, most_nodes), dice.choice((2, 3, 5, 20, 200))
    topology, blank_id = dice.choice(TOPOLOGIES), dice.randrange(vocab_size)
    num_words, may_cycle = dice.randint(1, 6), dice.random() < 0.05
    weights = dice.choice((FINITE, DEAR, USUAL, USUAL))
    arcs = []
    for _ in range(dice.randint(0, 6 * nodes)):
        source, target = dice.randrange(nodes), dice.randrange(nodes)
        label = dice.choice((0, dice.randint(1, min(vocab_size, 8))))
        if topology != "explicit" and label == blank_id + 1:
            label = 0
        if label == 0 and not may_cycle:
            source, target = min(source, target), max(source, target)
            if source == target:
                continue
        arcs.append(Arc(source, label, dice.randrange(num_words), dice.choice(weights), target))
    return Graph.from_arcs(
        arcs,
        {dice.randrange(nodes): dice.choice((*weights, math.inf)) for _ in range(3)},
        nodes,
        topology=topology,
        vocab_size=vocab_size,
        blank_id=blank_id,
        start=dice.randrange(nodes),
        word_texts=["<eps>", *"abcdef"[: num_words - 1]],
        loop_node=dice.randint(-1, nodes - 1),
        unknown_cost=mostly(dice, (0.0, 2.5, -3.0, 1e4, -1e4), (1e300, *EXTREMES)),
    )
