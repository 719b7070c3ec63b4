"""What a path pays in a graph is what the graph's language model says, in the search's integers."""

import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from spelled_cases import SCALES, UNITS, WORDS, Spellings, arpa_text, spellings_of
from stepped_cases import Costs, random_arpa

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.decoder_kernels.graph.graph import EPSILON, Graph
from earshot.decoder_kernels.graph.graph_file import read_graph, write_graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, fixed
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, NO_WORD, ROOT, LmImage
from earshot.language.graphs.build import build_graph
from earshot.language.graphs.small_lm import small_lm_of
from earshot.language.ngrams.arpa import Arpa
from earshot.language.ngrams.monotone import monotone
from earshot.language.ngrams.stepped_model import STEP, SteppedModel, stepped_model

TEXTS = 300


class Walk:
    """The cheapest path of a graph for tokens and words, in the search's unit."""

    def __init__(self, graph: Graph, scale: float) -> None:
        self._graph = graph
        self._costs = [fixed(weight * scale) for weight in graph.weights.tolist()]
        self._finals = [
            None if final == np.inf else fixed(final * scale) for final in graph.finals.tolist()
        ]
        self._arcs: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
        sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.first_arc)).tolist()
        rows = (graph.labels.tolist(), graph.words.tolist(), self._costs, graph.targets.tolist())
        for source, label, word, cost, target in zip(sources, *rows, strict=True):
            self._arcs[source, label].append((word, cost, target))

    def cost(self, tokens: Sequence[int], words: Sequence[int]) -> int:
        """Of words, spelled so."""
        found = self._silent({(self._graph.start, 0): 0}, words)
        for token in tokens:
            found = self._silent(self._step(found, token + 1, words), words)
        ends = [
            cost + final
            for (node, told), cost in found.items()
            if told == len(words) and (final := self._finals[node]) is not None
        ]
        return min(ends)

    def _step(
        self, found: dict[tuple[int, int], int], label: int, words: Sequence[int]
    ) -> dict[tuple[int, int], int]:
        ahead: dict[tuple[int, int], int] = {}
        for (node, told), paid in found.items():
            for word, cost, target in self._arcs.get((node, label), ()):
                if word and words[told : told + 1] != [word]:
                    continue
                key = target, told + bool(word)
                ahead[key] = min(ahead.get(key, paid + cost), paid + cost)
        return ahead

    def _silent(
        self, found: dict[tuple[int, int], int], words: Sequence[int]
    ) -> dict[tuple[int, int], int]:
        fresh = found
        while fresh:
            ahead = self._step(fresh, EPSILON, words)
            fresh = {key: cost for key, cost in ahead.items() if cost < found.get(key, cost + 1)}
            found |= fresh
        return found


def told_by(image: LmImage, words: Sequence[int], scale: float) -> int:
    """What a sentence costs by the image, in the search's unit."""
    start, end = image.find_words(["<s>", "</s>"]).tolist()
    state = ROOT if start == NO_WORD else image.state_after([start])
    total = 0
    for word in (*words, end):
        cost, state = image.find(state, word)
        total += fixed(cost / COST_STEPS * scale)
    return total


@pytest.mark.parametrize("seed", range(36))
def test_the_cheapest_path_costs_what_the_small_model_says(tmp_path: Path, seed: int) -> None:
    """In 10,800 texts none differs by a bit."""
    spellings, draw = spellings_of(seed), random.Random(seed)
    (tmp_path / "lm.arpa").write_text(arpa_text(random_arpa(seed, words=WORDS)))
    built = build_graph(
        tmp_path / "lm.arpa",
        lambda word: spellings.get(word, ()),
        UNITS,
        step=STEP * 4 ** (seed % 2),
    ).graph
    write_graph(tmp_path / "lm.graph", built)
    graph = read_graph(tmp_path / "lm.graph")
    image = graph.small_lm
    assert image is not None
    scale = WfstOptions(graph_scale=SCALES[seed % len(SCALES)]).graph_scale
    walk, numbers = Walk(graph, scale), image.find_words(graph.word_texts).tolist()
    for _ in range(TEXTS):
        words = draw.choices(range(1, len(graph.word_texts)), k=draw.randint(0, 6))
        tokens = [t for w in words for t in draw.choice(spellings[graph.word_texts[w]])]
        said = told_by(image, [numbers[word] for word in words], scale)
        assert walk.cost(tokens, words) == said, (seed, words)


@pytest.mark.parametrize("seed", range(36))
def test_an_image_says_of_each_word_what_the_model_says(seed: int) -> None:
    model = monotone(stepped_model(random_arpa(seed, words=WORDS), WORDS, STEP * 2 ** (seed % 7)))
    image, costs, draw = small_lm_of(model), Costs.of(model), random.Random(seed)
    unit = round(model.step * COST_STEPS)
    for _ in range(100):
        told = ["<s>"] * draw.randint(0, 1) + draw.choices(WORDS, k=draw.randint(0, 5))
        state, history = ROOT, ()
        for number, word in zip(image.find_words(told).tolist(), told, strict=True):
            if number == NO_WORD:
                continue
            cost, after = image.find(state, number)
            if word != "<s>":
                assert cost == costs.word(history, word) * unit
            state, history = after, costs.after(history, word)
        unknown, _ = image.find(state, NO_WORD)
        backing_off = sum(costs.back_offs.get(history[i:], 0) for i in range(len(history)))
        assert unknown == (backing_off + model.unknown) * unit


def test_numbers_at_the_limits_of_an_image_stay_as_they_are() -> None:
    model = extreme()
    costs, image = Costs.of(model), small_lm_of(model)
    a, b = image.find_words(["a", "b"]).tolist()
    _, after_a = image.find(ROOT, a)
    assert image.find(ROOT, b)[0] == costs.costs["b",] * 4 == 65_532
    assert image.find(after_a, b)[0] == costs.costs["a", "b"] * 4
    assert image.back_off(after_a) == costs.back_offs["a",] * 4 == -23_576


def extreme() -> SteppedModel:
    arpa = random_arpa(0, order=2)
    unigrams = {g: logs._replace(log10_prob=-99.0) for g, logs in arpa.orders[0].items()}
    a, b = arpa.words.index("a"), arpa.words.index("b")
    unigrams[a,] = unigrams[a,]._replace(log10_back_off=10.0)
    bigrams = {(a, b): arpa.orders[0][a,]._replace(log10_prob=-30.0)}
    return monotone(stepped_model(Arpa(arpa.words, [unigrams, bigrams]), ["a", "b", "c"]))


def test_weights_and_final_costs_stay_whole_steps(tmp_path: Path) -> None:
    for seed in range(8):
        (tmp_path / "lm.arpa").write_text(arpa_text(random_arpa(seed, 3, WORDS)))
        spellings = spellings_of(seed)
        graph = build_graph(tmp_path / "lm.arpa", lambda w, s=spellings: s.get(w, ()), UNITS).graph
        ends = graph.finals[np.isfinite(graph.finals)]
        for costs in (graph.weights, ends, np.array([graph.unknown_cost])):
            assert np.array_equal(costs, np.rint(costs / STEP) * STEP)


def test_a_graph_can_be_built_without_its_model(tmp_path: Path) -> None:
    (tmp_path / "lm.arpa").write_text(arpa_text(random_arpa(5, 7, ("a", "b"))))
    spellings: Spellings = {"a": [(1,)], "b": [(2,)]}
    with pytest.raises(GraphSourceError, match=r"at most order 6, not 7: .*--no-small-lm"):
        build_graph(tmp_path / "lm.arpa", lambda word: spellings.get(word, ()), UNITS)
    graph = build_graph(
        tmp_path / "lm.arpa", lambda word: spellings.get(word, ()), UNITS, with_small_lm=False
    ).graph
    assert graph.small_lm is None
