"""What large language models in a search cost a GPU, counted on the emulated device.

The bundled graph, with its own model as the large one beside it: as many lookups as another of its
size would ask for. Reads of the host's memory are counted for a cache that is new, and for one that
has seen other utterances, as a server's has. ``python -m benchmarks.cuda.lm_counts
build/cuda_emulator`` prints the table of ``docs/benchmarks/gpu_counts.md``; ``--large`` names an
image to take in place of the graph's own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from emulator import Emulator, Settings, load

from benchmarks.cuda.cuda_counts import CHUNK, FRAMES, SLOT, show
from benchmarks.wfst.posteriors import Utterance, simulated
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.wfst.search_lm import NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions, WfstSearch, WfstSearchConfig
from earshot.models.bundled import bundled_model_dir

OPTIONS = WfstOptions(beam=12.0, max_active=1_000)
GAIN_LIMIT = 1.5  # as streams have it
CACHE_MB = 24
SEEN_BEFORE = 4
"""Utterances."""
HEAD = "per frame, beam 12, 1,000 active"
PRICE_WORDS, STATES_WORDS = 4, 6  # csrc/pricing/lm_row.h


@dataclass(frozen=True)
class Arm:
    """A search to count. seen_before: utterances that its cache has seen."""

    name: str
    with_lm: bool = True
    cache_mb: int = CACHE_MB
    seen_before: int = 0


ARMS = (
    Arm("no models", with_lm=False, cache_mb=0),
    Arm("no cache", cache_mb=0),
    Arm(f"a new cache of {CACHE_MB} MB"),
    Arm(f"one that has seen {SEEN_BEFORE} utterances", seen_before=SEEN_BEFORE),
)


def count_models(
    emulator: Emulator, arms: str = "", large: LmImage | None = None
) -> Iterator[list[str]]:
    """The table: its head, and a row for each arm whose name holds `arms`."""
    graph = read_graph(bundled_model_dir() / "lm.graph.xz", UnpackedCopies.of_user())
    *before, last = simulated(graph, SEEN_BEFORE + 1, 12, seed=2)
    lm = beside_own_model(graph, large or graph.small_lm)
    yield [HEAD, *_shares({})]
    for arm in ARMS:
        if arms not in arm.name:
            continue
        search = _search(emulator, graph, arm.cache_mb, lm if arm.with_lm else None)
        for each in before[: arm.seen_before]:
            _advance(search, each)
            search.reset(SLOT)
        counted = _counts(emulator, search, last)
        yield [arm.name, *(f"{share:,.0f}" for share in _shares(counted).values())]


def beside_own_model(graph: Graph, image: LmImage | None) -> SearchLm:
    """The graph's own model, which lies on the device, and a large one in the host's memory."""
    assert graph.small_lm is not None
    assert image is not None
    small = NumberedLm.of(graph.small_lm, graph.word_texts, is_resident=True)
    large = NumberedLm.of(image, graph.word_texts)
    return SearchLm(small, [large], (1.0,), OPTIONS.graph_scale, gain_limit=GAIN_LIMIT)


def _search(emulator: Emulator, graph: Graph, cache_mb: int, lm: SearchLm | None) -> WfstSearch:
    config = WfstSearchConfig(max_tokens=OPTIONS.max_active, lm_cache_bytes=cache_mb << 20)
    search = WfstSearch(graph, config, 1, emulator.device)
    search.set_options(0, OPTIONS)
    search.set_lm(0, lm)
    return search


def _counts(emulator: Emulator, search: WfstSearch, utterance: Utterance) -> dict[str, int]:
    """Of the chunk's kernel alone."""
    first, size = _prices(search)
    emulator.restart(Settings(counts=True, watched_from=first, watched_bytes=size))
    _advance(search, utterance)
    counted = emulator.counts()
    emulator.restart()
    [chunk] = [own for kernel, own in counted.items() if CHUNK in kernel]
    return cast("dict[str, int]", chunk)


def _prices(search: WfstSearch) -> tuple[int, int]:
    """Where prices lie in the cache, before its states; and bytes."""
    cache = search._memory._lm_cache
    states = cache.numel() // (2 * PRICE_WORDS + STATES_WORDS) * STATES_WORDS
    return cache.data_ptr(), 8 * ((cache.numel() - states) // PRICE_WORDS) * PRICE_WORDS


def _shares(counted: dict[str, int]) -> dict[str, float]:
    """Per frame, by the titles of the page."""

    def share(name: str, of: int = 1) -> float:
        return counted.get(name, 0) / (FRAMES * of)

    return {
        "host reads": share("host_reads"),
        "host sectors": share("host_sectors"),
        "host bytes": share("host_bytes"),
        "prices asked": share("watched_reads", PRICE_WORDS),
        "prices found": share("watched_reads", PRICE_WORDS) - share("watched_writes", PRICE_WORDS),
        "global bytes": share("global_bytes"),
        "critical instructions": share("critical_instructions"),
        "own bytes": share("own_bytes"),
    }


def _advance(search: WfstSearch, utterance: Utterance) -> None:
    rows = torch.from_numpy(utterance.log_probs[:FRAMES])[None]
    search.advance(SLOT, rows.to(search.device), torch.tensor([rows.shape[1]]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="where the emulated device was built")
    parser.add_argument("--large", type=Path, help="an image, in place of the graph's own")
    asked = parser.parse_args()
    large = asked.large and LmImage(asked.large)
    show(count_models(load(asked.build), large=large))


if __name__ == "__main__":
    main()
