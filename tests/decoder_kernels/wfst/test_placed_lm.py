"""Models in the host's memory that a device reads: what it takes, refuses, and gives back."""

from __future__ import annotations

import gc
import math
import random
from pathlib import Path

import pytest
import torch
from backoff_oracle import BackoffModel, random_model
from emulator import Emulator
from search_lm_cases import native_lm
from search_lm_oracle import SearchLmOracle
from wfst_cases import SMALL, compact_graph

from earshot.decoder_kernels.errors import DeviceError
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa
from earshot.decoder_kernels.native import native_half
from earshot.decoder_kernels.wfst.search_lm import NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import (
    WfstOptions,
    WfstResult,
    WfstSearch,
    WfstSearchConfig,
)
from earshot.native.dlpack import dlpack_capsule

pytestmark = pytest.mark.emulated

SLOT = torch.tensor([0])
TEXTS = ("<eps>", "w0", "w1")
NOT_SUPPORTED, OUT_OF_MEMORY = 801, 2
CACHE_BYTES = 8 * 1024


def graph() -> Graph:
    arcs = [Arc(0, 2, 1, 0.5, 1), Arc(0, 3, 2, 0.5, 1), Arc(1, 2, 2, 0.25, 0)]
    return compact_graph(arcs, 1, TEXTS[1:])


def models(folder: Path) -> SearchLm:
    numbered = []
    for order in (1, 3):
        pack_arpa(random_model(order, order).write(folder), folder / f"{order}.lm")
        numbered.append(NumberedLm.of(LmImage(folder / f"{order}.lm"), TEXTS))
    return SearchLm(numbered[0], [numbered[1]], (1.0,))


def search_on(device: torch.device | str) -> WfstSearch:
    config = WfstSearchConfig(max_tokens=100, lm_cache_bytes=CACHE_BYTES, **SMALL)
    return WfstSearch(graph(), config, 2, device)


def heard(search: WfstSearch) -> list[WfstResult]:
    search.reset(SLOT)
    rows = torch.tensor([[[-3.0, -0.5, -1.0], [-3.0, -1.0, -0.25], [-1.0, -0.5, -2.0]]])
    search.advance(SLOT, rows.to(search.device), torch.tensor([3]))
    return search.best(SLOT, finalize=True)


@pytest.fixture
def expected(tmp_path: Path) -> list[WfstResult]:
    """What the CPU hears with the models."""
    search = search_on("cpu")
    search.set_lm(0, models(tmp_path))
    return heard(search)


def test_an_image_is_read_where_it_is_mapped(
    emulator: Emulator, expected: list[WfstResult], tmp_path: Path
) -> None:
    search, lm = search_on(emulator.device), models(tmp_path)
    before = emulator.host_pieces
    search.set_lm(0, lm)
    assert emulator.host_pieces == before + 2
    assert not lm.large[0].placed(emulator.device).is_copied
    assert heard(search) == expected


def with_resident(lm: SearchLm) -> SearchLm:
    small = NumberedLm(lm.small.image, lm.small.numbers, is_resident=True)
    return SearchLm(small, lm.large, lm.shares)


def test_a_resident_image_lies_on_the_device_and_none_of_it_is_read_elsewhere(
    emulator: Emulator, expected: list[WfstResult], tmp_path: Path
) -> None:
    search, lm = search_on(emulator.device), with_resident(models(tmp_path))
    before, allocations = emulator.host_pieces, emulator.allocations
    search.set_lm(0, lm)
    assert emulator.host_pieces == before + 1
    assert emulator.allocations > allocations
    assert not lm.small.placed(emulator.device).is_copied
    assert heard(search) == expected


def test_content_that_is_not_the_models_is_refused(emulator: Emulator, tmp_path: Path) -> None:
    model = models(tmp_path).large[0]
    half = native_half(emulator.device)
    for change in (-1, 1):
        size = model.image.header.content_end + change
        numbers = torch.from_numpy(model.numbers).to(emulator.device)
        content = torch.zeros(size, dtype=torch.uint8, device=emulator.device)
        with pytest.raises(ValueError, match="not the content of the model"):
            half.PlacedLm(model.native, dlpack_capsule(numbers), dlpack_capsule(content))


WORDS = tuple(f"w{number:04}" for number in range(1_500))


def wide_model() -> BackoffModel:
    """What follows the first word: most of the first thousand words, and a few of the others."""
    draw = random.Random(1)
    after = draw.sample(WORDS[:1000], 900) + draw.sample(WORDS[1000:], 7)
    ngrams = [(word,) for word in (*WORDS, "<s>", "</s>")] + [(WORDS[0], word) for word in after]
    return BackoffModel(
        2, {ngram: float(draw.randrange(20_000)) for ngram in ngrams}, {WORDS[:1]: 512.0}
    )


@pytest.mark.parametrize("asked", range(10))
def test_a_word_is_found_among_all_that_follow_a_context(
    emulator: Emulator, tmp_path: Path, asked: int
) -> None:
    """Each of some words, the ends among them, has the price that it has on a CPU."""
    words = (*range(1 + 17 * asked, len(WORDS), 171), 2, len(WORDS))
    arcs = [Arc(0, 2, 1, 0.5, 1), *(Arc(1, 3, word, 0.25, 2) for word in sorted(set(words)))]
    graph = compact_graph(arcs, 2, WORDS)
    small = BackoffModel(1, {(word,): 1024.0 for word in (*WORDS, "<s>", "</s>")}, {})
    lm = native_lm(
        SearchLmOracle(graph.word_texts, small, [wide_model()], (1.0,), 1.0, math.inf, math.inf),
        tmp_path,
    )
    listed = []
    for device in ("cpu", emulator.device):
        search = WfstSearch(graph, WfstSearchConfig(max_tokens=100, **SMALL), 1, device)
        search.set_options(0, WfstOptions(beam=60.0, max_active=100, lattice_beam=60.0))
        search.set_lm(0, lm)
        rows = torch.tensor([[[-3.0, -0.5, -1.0], [-3.0, -1.0, -0.25]]])
        search.advance(SLOT, rows.to(search.device), torch.tensor([2]))
        listed.append(search.nbest([0], 100))
    here, there = listed
    assert there == here
    assert {each.words[-1] for each in here[0]} >= set(words)


@pytest.mark.parametrize("call", ["cudaHostRegister", "cudaHostGetDevicePointer"])
def test_what_the_device_does_not_take_in_its_place_is_copied(
    emulator: Emulator, expected: list[WfstResult], tmp_path: Path, call: str
) -> None:
    search, lm = search_on(emulator.device), models(tmp_path)
    before = emulator.host_pieces
    emulator.fail_call(call, NOT_SUPPORTED, after=1)
    search.set_lm(0, lm)
    assert emulator.host_pieces == before + 2
    placed = [each.placed(emulator.device).is_copied for each in (lm.small, *lm.large)]
    assert sorted(placed) == [False, True]
    assert heard(search) == expected


@pytest.mark.parametrize("call", ["cudaHostAlloc", "cudaHostGetDevicePointer"])
def test_a_copy_that_is_refused_is_an_error_and_leaves_nothing(
    emulator: Emulator, tmp_path: Path, call: str
) -> None:
    search, lm = search_on(emulator.device), models(tmp_path)
    before, alone = emulator.host_pieces, heard(search)
    emulator.fail_call("cudaHostRegister", NOT_SUPPORTED)
    emulator.fail_call(call, OUT_OF_MEMORY)
    with pytest.raises(DeviceError, match=f"{call}, told to fail"):
        lm.large[0].placed(emulator.device)
    assert emulator.host_pieces == before
    assert heard(search) == alone
    search.set_lm(0, lm)
    assert heard(search) != alone


def test_images_are_given_back_with_their_last_holder(emulator: Emulator, tmp_path: Path) -> None:
    search, before = search_on(emulator.device), emulator.host_pieces
    alone = heard(search)
    for _ in range(3):
        search.set_lm(0, models(tmp_path))
        assert emulator.host_pieces == before + 2
    heard(search)
    search.set_lm(0, None)
    gc.collect()
    assert emulator.host_pieces == before
    assert heard(search) == alone


@pytest.mark.parametrize("call", ["cudaHostUnregister", "cudaFreeHost"])
def test_what_is_not_given_back_is_no_fault_of_the_next_launch(
    emulator: Emulator, tmp_path: Path, call: str
) -> None:
    search = search_on(emulator.device)
    if call == "cudaFreeHost":
        emulator.fail_call("cudaHostRegister", NOT_SUPPORTED)
    search.set_lm(0, models(tmp_path))
    emulator.fail_call(call, OUT_OF_MEMORY)
    search.set_lm(0, None)
    gc.collect()
    heard(search)


@pytest.mark.parametrize("seed", range(6))
def test_a_cache_of_wrong_content_changes_nothing(
    emulator: Emulator, expected: list[WfstResult], tmp_path: Path, seed: int
) -> None:
    search = search_on(emulator.device)
    search.set_lm(0, models(tmp_path))
    assert heard(search) == expected
    cache = search._memory._lm_cache
    filled = cache.cpu()
    assert filled.count_nonzero() > 0
    noise = torch.Generator().manual_seed(seed)
    wrong = torch.randint(-(2**62), 2**62, filled.shape, generator=noise)
    torn = torch.where(torch.rand(filled.shape, generator=noise) < 0.3, wrong, filled)
    for content in (wrong, filled.roll(seed + 1), filled.flip(0), torn):
        cache.copy_(content)
        assert heard(search) == expected


def test_no_other_models_find_what_was_kept_for_some(emulator: Emulator, tmp_path: Path) -> None:
    """Theirs are the same words, in the same cache: only the models' number is another."""
    search, here = search_on(emulator.device), search_on("cpu")
    results = []
    for seed in range(3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        pack_arpa(random_model(seed, 3).write(folder), folder / "model.lm")
        model = NumberedLm.of(LmImage(folder / "model.lm"), TEXTS)
        other = models(folder)
        for each in (search, here):
            each.set_lm(0, SearchLm(other.small, [model], (1.0,)))
        results.append(heard(search))
        assert results[-1] == heard(here)
    assert results[0] != results[1]
