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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.search.on_the_fly import SEED, Heard, Trial
from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.posteriors import Utterance
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.search_lm import NumberedLm, SearchLm
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.search.ctc_searches import graph_search_sizes
from earshot.streaming.words.fitted_words import words_of

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


def model_of(graph: Graph, other: Graph, limits: Limits, scale: float) -> SearchLm:
    """The other graph's language model in place of a graph's own."""
    assert graph.small_lm is not None
    assert other.small_lm is not None
    images = (graph.small_lm, other.small_lm)
    small, large = (NumberedLm.of(image, graph.word_texts) for image in images)
    return SearchLm(small, [large], (1.0,), scale, limits.gain, limits.history_beam)


@dataclass(frozen=True)
class Compared:
    """What the large model's graph, the search with it, and the small graph alone have heard."""

    limits: Limits
    static: Heard
    own: Heard
    alone: Heard
    overflows: int

    def line(self, truths: Sequence[str]) -> list[str]:
        """A row of the table."""
        pairs = list(zip(self.static.found, self.own.found, strict=True))
        same = [each for each in pairs if each[0].text == each[1].text]
        equal = sum(one.cost == other.cost for one, other in same)
        errors = [f"{each.errors(truths).percent:.2f}" for each in (self.static, self.own)]
        times = [f"{each.frame_ms:.3f}" for each in (self.static, self.own, self.alone)]
        limits = self.limits
        return [
            f"{limits.beam:g}", f"{limits.max_active:,}", f"{limits.history_beam:g}",
            f"{limits.gain:g}", f"{len(same)} of {len(pairs)}", f"{equal} of {len(same)}", *errors,
            *times, f"{self.overflows}",
        ]  # fmt: skip


def compare(
    small: Graph, large: Graph, limits: Limits, served: WfstOptions, heard: Sequence[Utterance]
) -> Compared:
    """All recordings by both graphs; `served`: the service's options, whose beams are replaced."""
    options = replace(served, beam=limits.beam, max_active=limits.max_active)
    config = GraphSearchConfig(max_active=limits.max_active, beam=limits.beam)
    sizes = graph_search_sizes(EngineConfig(threads=1, graph_search=config))
    by_small, by_large = (Trial(graph, sizes, options) for graph in (small, large))
    static, alone = (trial.hear(heard, None) for trial in (by_large, by_small))
    own = by_small.hear(heard, model_of(small, large, limits, options.graph_scale))
    return Compared(limits, static, own, alone, by_small.overflows + by_large.overflows)


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("small", type=Path, help="a graph that holds its language model")
    parser.add_argument("large", type=Path, help="one of another model with the same words")
    parser.add_argument("--per-corpus", type=int, default=50)
    parser.add_argument("--beam", type=float, default=16.0, help="the wide one")
    parser.add_argument("--max-active", type=int, default=8000, help="of the wide beam")
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
    served, rows = usual.options(GraphOptions()), []
    for limits in (
        Limits(asked.beam, asked.max_active),
        Limits(served.beam, usual.max_active, usual.lm_history_beam, usual.lm_gain_limit),
    ):
        found = compare(small, large, limits, served, heard)
        rows.append(found.line([each.text for each in heard]))
        print(rows[-1], flush=True)
    about = below_claim(__doc__)
    sizes = [f"{each.small_lm.header.num_ngrams:,}" for each in (small, large) if each.small_lm]
    words = f"n-grams of {len(small.word_texts) - 1:,} words"
    said = f"{len(heard)} recordings; {' and '.join(sizes)} {words}."
    body = f"{about}\n\n{said}\n\n{table(HEADER, rows)}\n"
    show_report(
        "static_large", "A large model's graph, and a search with it", body, is_written=asked.write
    )


if __name__ == "__main__":
    main()
