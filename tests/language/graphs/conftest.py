"""Graphs walked arc by arc, in plain Python."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from earshot.decoder_kernels.graph.graph import Graph
from earshot.language.graphs.fst import Fst

Costs = dict[tuple[int, ...], float]
"""The cheapest cost of each sequence of words."""


def best_texts(
    arcs: list[list[tuple[int, int, float, int]]],
    start: int,
    finals: Sequence[float],
    labels: Sequence[int],
) -> Costs:
    """All that a transducer outputs for a sequence of input labels."""
    found = closure(arcs, {(start, ()): 0.0})
    for label in labels:
        ahead: dict[tuple[int, tuple[int, ...]], float] = {}
        for (node, words), cost in found.items():
            for has, word, weight, target in arcs[node]:
                if has == label:
                    key = target, words + (word,) * bool(word)
                    ahead[key] = min(ahead.get(key, math.inf), cost + weight)
        found = closure(arcs, ahead)
    texts: Costs = {}
    for (node, words), cost in found.items():
        if finals[node] < math.inf:
            texts[words] = min(texts.get(words, math.inf), cost + finals[node])
    return texts


def closure(arcs, found):
    """What epsilon arcs lead to."""
    open_keys = list(found)
    while open_keys:
        node, words = open_keys.pop()
        for has, word, weight, target in arcs[node]:
            key = target, words + (word,) * bool(word)
            if has == 0 and found[node, words] + weight < found.get(key, math.inf):
                found[key] = found[node, words] + weight
                open_keys.append(key)
    return found


@pytest.fixture(scope="session")
def texts_of() -> Callable[[Graph, Sequence[int]], Costs]:
    """``texts_of(graph, tokens)``: the texts of a graph for a sequence of its tokens."""

    def walk(graph: Graph, tokens: Sequence[int]) -> Costs:
        arcs = [
            list(
                zip(
                    *(
                        column[graph.first_arc[node] : graph.first_arc[node + 1]].tolist()
                        for column in (graph.labels, graph.words, graph.weights, graph.targets)
                    ),
                    strict=True,
                )
            )
            for node in range(graph.num_nodes)
        ]
        labels = [token + 1 for token in tokens]
        return best_texts(arcs, graph.start, graph.finals.tolist(), labels)

    return walk


@pytest.fixture(scope="session")
def texts_of_fst() -> Callable[[Fst, Sequence[int]], Costs]:
    """``texts_of_fst(fst, labels)``: the same for a transducer and its labels."""

    def walk(fst: Fst, labels: Sequence[int]) -> Costs:
        arcs: list[list[tuple[int, int, float, int]]] = [[] for _ in range(fst.num_states)]
        rows = (fst.sources, fst.ilabels, fst.olabels, fst.weights, fst.targets)
        for source, label, word, weight, target in zip(*(c.tolist() for c in rows), strict=True):
            arcs[source].append((label, word, weight, target))
        return best_texts(arcs, fst.start, fst.finals.tolist(), labels)

    return walk


def tokens_of_frames(frames: Sequence[int], rule: str, blank: int = 0) -> set[tuple[int, ...]]:
    """What a path of frames may say: normal, one sequence; compact, any run may be cut."""
    found: set[tuple[int, ...]] = {()}
    last = blank
    for frame in frames:
        if frame != blank and frame != last:
            found = {(*tokens, frame) for tokens in found}
        elif frame != blank and rule == "compact":
            found |= {(*tokens, frame) for tokens in found}
        last = frame
    return found


@pytest.fixture(scope="session")
def frames_to_tokens() -> Callable[[Sequence[int], str], set[tuple[int, ...]]]:
    """``frames_to_tokens(frames, rule)``: all sequences of tokens that such frames may say."""
    return tokens_of_frames


@pytest.fixture
def arpa_file(tmp_path: Path) -> Callable[..., Path]:
    """``arpa_file(orders)``: an ARPA file of n-grams ``{"a b": (log10 prob, log10 back-off)}``."""

    def write(*orders: dict[str, tuple[float, ...]]) -> Path:
        path = tmp_path / "lm.arpa"
        path.write_text(arpa_text(*orders))
        return path

    return write


def arpa_text(*orders: dict[str, tuple[float, ...]]) -> str:
    counts = [f"ngram {n}={len(ngrams)}" for n, ngrams in enumerate(orders, start=1)]
    lines = ["\\data\\", *counts, ""]
    for n, ngrams in enumerate(orders, start=1):
        lines.append(f"\\{n}-grams:")
        for words, (prob, *back_off) in ngrams.items():
            lines.append("\t".join([str(prob), words, *map(str, back_off)]))
        lines.append("")
    return "\n".join([*lines, "\\end\\", ""])
