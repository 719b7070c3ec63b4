"""A device needs little of a large model: a tenth of its bytes, and all is heard as on a CPU."""

import random

import pytest
import torch
from backoff_oracle import BackoffModel, NGram
from emulator import Emulator

from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa
from earshot.decoder_kernels.wfst.search_lm import NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import (
    WfstOptions,
    WfstResult,
    WfstSearch,
    WfstSearchConfig,
)

pytestmark = pytest.mark.emulated

WORDS = tuple(f"w{number:03}" for number in range(200))
ENDS = ("<s>", "</s>")
TOKENS = 42
FRAMES = 30
CACHE_BYTES = 12 * 1024
SIZES = WfstSearchConfig(
    max_tokens=60,
    backpointer_capacity=4096,
    entry_capacity=2048,
    candidate_capacity=8192,
    lm_cache_bytes=CACHE_BYTES,
)
Heard = tuple[list[WfstResult], object, object]


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Words of one token in any order; five sound alike each time."""
    arcs = [Arc(0, 2 + i % (TOKENS - 2), 1 + i, 2.0, 0) for i in range(len(WORDS))]
    return Graph.from_arcs(
        arcs, {0: 0.0}, 1,
        topology="compact", vocab_size=TOKENS, blank_id=0, word_texts=["<eps>", *WORDS],
    )  # fmt: skip


@pytest.fixture(scope="module")
def lm(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> SearchLm:
    """Of 25,000 n-grams of up to three words; the small one knows words alone."""
    small = BackoffModel(1, {(word,): 2048.0 for word in (*WORDS, *ENDS)}, {})
    images = []
    for model in (small, large_model()):
        folder = tmp_path_factory.mktemp("lm")
        pack_arpa(model.write(folder), folder / "model.lm")
        images.append(LmImage(folder / "model.lm"))
    own, other = (
        NumberedLm.of(image, graph.word_texts, is_resident=image is images[0]) for image in images
    )
    return SearchLm(own, [other], (1.0,), gain_limit=3.0, history_beam=3.0)


def large_model() -> BackoffModel:
    draw = random.Random(40)
    ngrams: list[NGram] = [(word,) for word in (*WORDS, *ENDS)]
    pairs = [(a, b) for a in WORDS for b in draw.sample(WORDS, 40)]
    ngrams += pairs
    ngrams += [(*pair, word) for pair in draw.sample(pairs, 2000) for word in draw.sample(WORDS, 9)]
    costs = {ngram: float(draw.randrange(1, 9_000)) for ngram in ngrams}
    back_offs = {ngram: float(draw.randrange(3_000)) for ngram in ngrams if len(ngram) < 3}
    return BackoffModel(3, costs, back_offs)


def heard(graph: Graph, lm: SearchLm, device: torch.device | str) -> tuple[WfstSearch, Heard]:
    search = WfstSearch(graph, SIZES, 1, device)
    search.set_options(0, WfstOptions(beam=9.0, max_active=60, lattice_beam=3.0))
    search.set_lm(0, lm)
    noise = torch.randn(1, FRAMES, TOKENS, generator=torch.Generator().manual_seed(40))
    slot = torch.tensor([0])
    rows = (2.5 * noise).log_softmax(-1).to(search.device)
    search.advance(slot, rows, torch.tensor([FRAMES]))
    tokens = search.num_tokens(slot)
    return search, (search.best(slot, finalize=True), search.nbest([0], 50), tokens)


def test_a_device_that_holds_a_tenth_of_a_model_hears_what_a_cpu_hears(
    emulator: Emulator, graph: Graph, lm: SearchLm
) -> None:
    _, expected = heard(graph, lm, "cpu")
    there, found = heard(graph, lm, emulator.device)
    assert found == expected
    assert len(expected[0][0].hypothesis.words) > FRAMES // 3
    cache = there._memory._lm_cache
    assert cache.cpu().count_nonzero() > 0.7 * cache.numel()  # it is too small for all of it
    [large] = lm.large
    assert cache.nbytes + large.numbers.nbytes <= len(large.image.content) / 10
