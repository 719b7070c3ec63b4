"""What large language models in a search cost a GPU, counted on the emulated device.

The bundled graph, with its own model as the large one beside it: as many lookups as another of its
size would ask for. Reads of the host's memory are counted for a cache that is new, and for one that
has seen other utterances, as a server's has. ``python -m benchmarks.cuda.lm_counts
build/cuda_emulator`` prints the table of ``docs/benchmarks/gpu_counts.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import torch
from emulator import Emulator, Settings, load

from benchmarks.cuda.cuda_counts import CHUNK, FRAMES, SLOT, Cost, per_frame_table, shares, show
from benchmarks.wfst.posteriors import Utterance, simulated
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies
from earshot.decoder_kernels.wfst.search_lm import NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions, WfstSearch, WfstSearchConfig
from earshot.models.bundled import bundled_model_dir

OPTIONS = WfstOptions(beam=12.0, max_active=1_000)
GAIN_LIMIT = 1.5  # as streams have it
CACHE_MB = 24
SEEN_BEFORE = 4
"""Utterances."""
COUNTED = (
    "host_reads",
    "host_sectors",
    "host_bytes",
    "global_bytes",
    "critical_instructions",
    "own_bytes",
)


def count_models(emulator: Emulator) -> Iterator[Cost]:
    """Without models, with them and no cache, with a new cache and with one that is in use."""
    graph = read_graph(bundled_model_dir() / "lm.graph.xz", UnpackedCopies.of_user())
    *before, last = simulated(graph, SEEN_BEFORE + 1, 12, seed=2)
    lm = own_model_twice(graph)
    yield _count(emulator, "no models", _search(emulator, graph, 0, None), last)
    yield _count(emulator, "no cache", _search(emulator, graph, 0, lm), last)
    search = _search(emulator, graph, CACHE_MB, lm)
    yield _count(emulator, f"a new cache of {CACHE_MB} MB", search, last)
    search = _search(emulator, graph, CACHE_MB, lm)
    for each in before:
        _advance(search, each)
        search.reset(SLOT)
    yield _count(emulator, f"one that has seen {SEEN_BEFORE} utterances", search, last)


def own_model_twice(graph: Graph) -> SearchLm:
    """The graph's own model as the small one and as the large one."""
    assert graph.small_lm is not None
    model = NumberedLm.of(graph.small_lm, graph.word_texts)
    return SearchLm(model, [model], (1.0,), OPTIONS.graph_scale, gain_limit=GAIN_LIMIT)


def _search(emulator: Emulator, graph: Graph, cache_mb: int, lm: SearchLm | None) -> WfstSearch:
    config = WfstSearchConfig(max_tokens=OPTIONS.max_active, lm_cache_bytes=cache_mb << 20)
    search = WfstSearch(graph, config, 1, emulator.device)
    search.set_options(0, OPTIONS)
    search.set_lm(0, lm)
    return search


def _count(emulator: Emulator, name: str, search: WfstSearch, utterance: Utterance) -> Cost:
    """Counts of the chunk's kernel alone."""
    emulator.restart(Settings(counts=True))
    _advance(search, utterance)
    counted = emulator.counts()
    emulator.restart()
    [chunk] = [own for kernel, own in counted.items() if CHUNK in kernel]
    return Cost(name, shares(chunk, COUNTED, FRAMES), {})


def _advance(search: WfstSearch, utterance: Utterance) -> None:
    rows = torch.from_numpy(utterance.log_probs[:FRAMES])[None]
    search.advance(SLOT, rows.to(search.device), torch.tensor([rows.shape[1]]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="where the emulated device was built")
    emulator = load(parser.parse_args().build)
    costs = list(count_models(emulator))
    show(per_frame_table(costs, COUNTED, "per frame, beam 12, 1,000 active"))


if __name__ == "__main__":
    main()
