"""Priced lattices list what enumerating all their paths says."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from backoff_oracle import random_model

from earshot.decoder_kernels.lm.lm_image import SENTENCE_START, LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa
from earshot.decoder_kernels.lm.lm_texts import MixedLm, WordTexts
from earshot.decoder_kernels.wfst.priced_lattice import LmTerm, PricedPath, priced_paths
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice

TEXTS = ("<eps>", "w0", "w1", "w2", "elsewhere")
OUTSIDE = len(TEXTS)
"""A word that no model knows."""

SCALE = 0.7


def image(seed: int, folder: Path) -> LmImage:
    path = folder / f"{seed}.lm"
    source = folder / str(seed)
    source.mkdir()
    pack_arpa(random_model(seed).write(source), path)
    return LmImage(path)


def terms_of(seed: int, folder: Path) -> list[LmTerm]:
    """A mix behind some words, less a model behind the beginning of a sentence."""
    large = MixedLm((image(seed, folder), image(seed + 100, folder)), (0.6, 0.4))
    small = MixedLm((image(seed + 200, folder),), (1.0,))
    return [LmTerm(large, SCALE, (SENTENCE_START, "w1", "w0")), LmTerm(small, -SCALE)]


def random_lattice(seed: int, num_nodes: int = 6) -> WordLattice:
    """Any arcs of which each is on a path; costs are whole, so that sums of them are exact."""
    draw = random.Random(seed)
    pairs = {(node, node + 1) for node in range(num_nodes - 1)}
    pairs |= {tuple(sorted(draw.sample(range(num_nodes), 2))) for _ in range(4)}
    arcs = sorted(
        (source, target, word)
        for source, target in pairs
        for word in ([0] if source == 0 else draw.sample(range(1, OUTSIDE + 1), 2))
    )
    sources, targets, words = (np.array(each, np.int32) for each in zip(*arcs, strict=True))
    return WordLattice(
        frames=np.array([3 * node for node in range(num_nodes)], np.int32),
        sources=sources,
        targets=targets,
        words=words,
        costs=np.array([float(draw.randrange(4)) for _ in arcs]),
        beam=8.0,
        reached_final=True,
    )


def paths(lattice: WordLattice, node: int = 0) -> Iterator[tuple[tuple[int, ...], float]]:
    """The arcs and the cost of each path from a node to the end."""
    if node == lattice.num_nodes - 1:
        yield (), 0.0
    for arc in np.flatnonzero(lattice.sources == node).tolist():
        for rest, cost in paths(lattice, int(lattice.targets[arc])):
            yield (arc, *rest), lattice.costs[arc] + cost


def total(path: PricedPath) -> float:
    return path.cost + path.price


def exact(path: PricedPath) -> tuple[tuple[int, ...], tuple[int, ...], float]:
    return path.words, path.frames, path.cost


def enumerated(lattice: WordLattice, terms: list[LmTerm], *, ended: bool) -> list[PricedPath]:
    """All paths, each priced as a text."""
    found = list(paths(lattice))
    spoken = [[arc for arc in arcs if lattice.words[arc]] for arcs, _ in found]
    ids = [[int(lattice.words[arc]) for arc in arcs] for arcs in spoken]
    texts = WordTexts(
        (*TEXTS, None),
        np.array([word for each in ids for word in each], np.int64),
        np.cumsum([len(each) for each in ids], dtype=np.int64),
    )
    texts = texts.closed() if ended else texts
    prices = sum(term.factor * term.mix.costs(texts, term.before) for term in terms)
    frames = [tuple(int(lattice.frames[lattice.sources[arc]]) for arc in arcs) for arcs in spoken]
    listed = zip(ids, frames, found, prices, strict=True)
    return sorted(
        (PricedPath(tuple(words), at, cost, price) for words, at, (_, cost), price in listed),
        key=total,
    )


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_all_paths_are_listed_as_enumerating_them_says(
    tmp_path: Path, seed: int, ended: bool
) -> None:
    lattice, terms = random_lattice(seed), terms_of(seed, tmp_path)
    wanted = enumerated(lattice, terms, ended=ended)
    found = priced_paths(lattice, dict(enumerate(TEXTS)), terms, 10_000, ended=ended)
    assert found is not None
    assert len(found) == len(wanted)
    np.testing.assert_allclose(list(map(total, found)), list(map(total, wanted)), atol=1e-9)
    assert sorted(map(exact, found)) == sorted(map(exact, wanted))
    priced = {path.words: path.price for path in wanted}
    for path in found:
        np.testing.assert_allclose(path.price, priced[path.words], atol=1e-9)


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_paths_keep_the_beginning_that_is_asked_for(tmp_path: Path, seed: int, ended: bool) -> None:
    lattice, terms = random_lattice(seed), terms_of(seed, tmp_path)
    everything = priced_paths(lattice, dict(enumerate(TEXTS)), terms, 10_000, ended=ended)
    assert everything is not None
    beginning = max((path.words for path in everything), key=len)[:3]
    found = priced_paths(
        lattice, dict(enumerate(TEXTS)), terms, 10_000, ended=ended, beginning=beginning
    )
    assert found is not None
    keeping = [
        path
        for path in everything
        if path.words[: len(beginning)] == beginning[: None if ended else len(path.words)]
    ]
    assert 0 < len(keeping) < len(everything)
    assert sorted(map(exact, found)) == sorted(map(exact, keeping))


@pytest.mark.parametrize("seed", range(5))
def test_fewer_are_the_first_of_all(tmp_path: Path, seed: int) -> None:
    lattice, terms = random_lattice(seed), terms_of(seed, tmp_path)
    everything = priced_paths(lattice, dict(enumerate(TEXTS)), terms, 10_000, ended=True)
    assert everything is not None
    assert len(everything) > 7
    assert priced_paths(lattice, dict(enumerate(TEXTS)), terms, 7, ended=True) == everything[:7]


def test_a_lattice_that_takes_too_many_lookups_is_not_priced(tmp_path: Path) -> None:
    lattice, terms = random_lattice(1), terms_of(1, tmp_path)
    assert (
        priced_paths(lattice, dict(enumerate(TEXTS)), terms, 5, ended=True, max_lookups=10) is None
    )


def test_a_lattice_without_words_costs_the_end_of_a_sentence(tmp_path: Path) -> None:
    empty, one = np.array([0], np.int32), np.array([1], np.int32)
    lattice = WordLattice(np.array([0, 9], np.int32), empty, one, empty, np.array([2.0]), 8.0, True)
    terms = terms_of(2, tmp_path)
    assert enumerated(lattice, terms, ended=True) == priced_paths(
        lattice, TEXTS, terms, 5, ended=True
    )


@pytest.mark.parametrize(
    ("sources", "targets"),
    [([0, 1], [1, 1]), ([1, 0], [2, 1]), ([0, 1], [1, 3]), ([-1, 1], [1, 2])],
)
def test_arcs_that_are_no_lattices_are_refused(
    tmp_path: Path, sources: list[int], targets: list[int]
) -> None:
    lattice = WordLattice(
        np.arange(3, dtype=np.int32),
        np.array(sources, np.int32),
        np.array(targets, np.int32),
        np.array([0, 1], np.int32),
        np.zeros(2),
        8.0,
        True,
    )
    with pytest.raises(ValueError, match="no lattice's"):
        priced_paths(lattice, dict(enumerate(TEXTS)), terms_of(3, tmp_path), 5, ended=True)
