"""Claim: a small model's graph, searched with a large model, finds what the large one's graph does.

The bundled model's posteriors over recordings, in chunks of eight frames, by two graphs: one of the
large model alone, and one of the small model with the large one asked word by word. Both are built
by `earshot graph build`, of the same words, and hold their models. `same cost`: of the words that
both found best, to the bit, where both found the same ones. The first row has wide beams and no
limits, the second the service's. Seconds are CPU time on one thread, the search alone.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from benchmarks.report import SHARED, table, write_report
from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.posteriors import Utterance
from benchmarks.wfst.word_errors import WordErrors
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.search_lm import NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.search.ctc_searches import graph_search_sizes
from earshot.streaming.words.fitted_words import words_of

SEED = 7
CHUNK = 8
LISTED = 100
HEADER = (
    "beam", "most tokens", "history beam", "gain limit", "same words", "same cost",
    "word errors, %: static", "in the search", "ms a frame: static", "in the search",
    "small graph alone", "overflows",
)  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """Nats, but for the tokens of a frame."""

    beam: float
    max_active: int
    history_beam: float = math.inf
    gain: float = math.inf


@dataclass(frozen=True)
class Best:
    """A recording's words and their cost."""

    text: str
    cost: float


@dataclass(frozen=True)
class Heard:
    """What one search found, its seconds for a frame, and how often it had no room."""

    found: Sequence[Best]
    frame_s: float
    overflows: int


def hear(
    graph: Graph, heard: Sequence[Utterance], limits: Limits, options: WfstOptions, lm: Graph | None
) -> Heard:
    """Search all; `lm`: the graph whose model is asked, or none."""
    config = GraphSearchConfig(max_active=limits.max_active, beam=limits.beam)
    sizes = graph_search_sizes(EngineConfig(threads=1, graph_search=config))
    search, slot = WfstSearch(graph, sizes, 1), torch.tensor([0])
    search.set_options(0, options)
    if isinstance(lm, Graph):
        search.set_lm(0, _asked(graph, lm, limits, options))
    found, seconds = [], 0.0
    for each in heard:
        search.reset(slot)
        for part in torch.from_numpy(each.log_probs).split(CHUNK):
            began = time.process_time()
            search.advance(slot, part[None], torch.tensor([len(part)]))
            seconds += time.process_time() - began
        found.append(_best(search, graph))
    return Heard(found, seconds / sum(len(each.log_probs) for each in heard), search.overflows())


def _asked(graph: Graph, other: Graph, limits: Limits, options: WfstOptions) -> SearchLm:
    assert graph.small_lm is not None
    assert other.small_lm is not None
    images = (graph.small_lm, other.small_lm)
    small, large = (NumberedLm.of(image, graph.word_texts) for image in images)
    scale = options.graph_scale
    return SearchLm(small, [large], (1.0,), scale, limits.gain, limits.history_beam)


def _best(search: WfstSearch, graph: Graph) -> Best:
    [listed] = search.nbest([0], LISTED)
    if listed is None:
        listed = [search.best(torch.tensor([0]), finalize=True)[0].hypothesis]
    return Best(" ".join(graph.word_texts[word] for word in listed[0].words), listed[0].cost)


def line_of(
    limits: Limits, static: Heard, own: Heard, alone: Heard, truths: list[str]
) -> list[str]:
    """A row of the table."""
    pairs = list(zip(static.found, own.found, strict=True))
    same = [each for each in pairs if each[0].text == each[1].text]
    equal = sum(one.cost == other.cost for one, other in same)
    errors = [
        f"{WordErrors.of(truths, [best.text for best in each.found]).percent:.2f}"
        for each in (static, own)
    ]
    times = [f"{1e3 * each.frame_s:.3f}" for each in (static, own, alone)]
    return [
        f"{limits.beam:g}", f"{limits.max_active:,}", f"{limits.history_beam:g}",
        f"{limits.gain:g}", f"{len(same)} of {len(pairs)}", f"{equal} of {len(same)}", *errors,
        *times, f"{static.overflows + own.overflows}",
    ]  # fmt: skip


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("small", type=Path, help="a graph that holds its language model")
    parser.add_argument("large", type=Path, help="one of another model with the same words")
    parser.add_argument("--per-corpus", type=int, default=50)
    parser.add_argument("--beam", type=float, default=20.0, help="the wide one")
    parser.add_argument("--max-active", type=int, default=20_000, help="of the wide beam")
    parser.add_argument("--write", action="store_true", help="the page")
    return parser.parse_args()


def main() -> None:
    """Run it and print, or write, the page."""
    asked = parsed()
    torch.set_num_threads(1)
    loaded = load_model(bundled_model_dir())
    small, large = read_graph(asked.small), read_graph(asked.large)
    chosen = recordings(SHARED / "speech" / "dev.tsv", asked.per_corpus, seed=SEED)
    heard = posteriors(loaded, chosen, words_of(small, loaded))
    usual = GraphSearchConfig().of(loaded.model.config.decoding)
    rows, served = [], usual.options(GraphOptions())
    for limits in (
        Limits(asked.beam, asked.max_active),
        Limits(served.beam, usual.max_active, usual.lm_history_beam, usual.lm_gain_limit),
    ):
        options = replace(served, beam=limits.beam, max_active=limits.max_active)
        arms = (large, None), (small, large), (small, None)
        static, own, alone = (hear(graph, heard, limits, options, lm) for graph, lm in arms)
        rows.append(line_of(limits, static, own, alone, [each.text for each in heard]))
        print(rows[-1], flush=True)
    about = (__doc__ or "").split("\n", 2)[2].strip()
    sizes = [f"{each.small_lm.header.num_ngrams:,}" for each in (small, large) if each.small_lm]
    words = f"n-grams of {len(small.word_texts) - 1:,} words"
    said = f"{len(heard)} recordings; {' and '.join(sizes)} {words}."
    body = f"{about}\n\n{said}\n\n{table(HEADER, rows)}\n"
    print(body)
    if asked.write:
        print(write_report("static_large", "A large model's graph, and a search with it", body))


if __name__ == "__main__":
    main()
