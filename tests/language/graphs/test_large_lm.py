"""A large model in the search of a small model's graph is the graph of the large model."""

from pathlib import Path

import pytest
import torch
from spelled_cases import SCALES, UNITS, WORDS, arpa_text, spellings_of
from stepped_cases import random_arpa

from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.search_lm import NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig
from earshot.language.graphs.build import build_graph

SIZES = WfstSearchConfig(max_tokens=4000, entry_capacity=1 << 15, candidate_capacity=1 << 16)
SEEDS = range(36)
FRAMES = 8
INFINITE = float("inf")
Listed = list[tuple[float, tuple[str, ...]]]


def graph_of(arpa_seed: int, order: int, spelling_seed: int, folder: Path) -> Graph:
    (folder / "lm.arpa").write_text(arpa_text(random_arpa(arpa_seed, order, WORDS)))
    spellings = spellings_of(spelling_seed)
    return build_graph(folder / "lm.arpa", lambda word: spellings.get(word, ()), UNITS).graph


def search_lm(graph: Graph, large: Graph, scale: float, limit: float) -> SearchLm:
    """The large graph's model in place of the other's; ``limit`` on gains and histories."""
    assert graph.small_lm is not None
    assert large.small_lm is not None
    images = (graph.small_lm, large.small_lm)
    small, other = (NumberedLm.of(image, graph.word_texts) for image in images)
    return SearchLm(small, [other], (1.0,), scale, limit, limit)


def found(graph: Graph, lm: SearchLm | None, options: WfstOptions, seed: int) -> Listed:
    """The costs and words of the best result and of the list, of random sound."""
    search = WfstSearch(graph, SIZES, 1)
    search.set_options(0, options)
    search.set_lm(0, lm)
    noise = torch.randn(1, FRAMES, 4, generator=torch.Generator().manual_seed(seed))
    search.advance(torch.tensor([0]), torch.log_softmax(3 * noise, -1), torch.tensor([FRAMES]))
    [best] = search.best(torch.tensor([0]), finalize=True)
    [listed] = search.nbest([0], 100)
    assert listed is not None
    assert search.overflows() == 0
    said = [(each.cost, tuple(graph.word_texts[word] for word in each.words)) for each in listed]
    assert best.hypothesis.cost == said[0][0]
    return sorted(said)


@pytest.mark.parametrize("seed", SEEDS)
def test_wide_beams_find_what_the_large_models_graph_says(tmp_path: Path, seed: int) -> None:
    scale = WfstOptions(graph_scale=SCALES[seed % len(SCALES)]).graph_scale
    small = graph_of(seed, 1 + seed % 3, seed, tmp_path)
    large = graph_of(seed + 1000, 1 + seed % 4, seed, tmp_path)
    lm = search_lm(small, large, scale, INFINITE)
    options = WfstOptions(beam=200.0, max_active=4000, lattice_beam=4.0, graph_scale=scale)
    plain, searched = found(large, None, options, seed), found(small, lm, options, seed)
    assert searched[:100] == plain[:100]
    assert len(plain) > 1 or scale == 10.0
    if seed % 3:
        assert searched != found(small, None, options, seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("limit", [0.0, 3.0, INFINITE])
def test_the_graphs_own_model_changes_nothing(tmp_path: Path, seed: int, limit: float) -> None:
    graph = graph_of(seed, 1 + seed % 4, seed, tmp_path)
    options = WfstOptions(beam=12.0, max_active=4000, lattice_beam=3.0)
    plain = found(graph, None, options, seed)
    searched = found(graph, search_lm(graph, graph, 1.0, limit), options, seed)
    assert min(searched) == min(plain)
    if limit == INFINITE:
        assert searched == plain
