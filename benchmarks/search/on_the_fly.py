"""Claim: a large model in the search finds its words; limits say what that costs.

The bundled model's posteriors over recordings, searched in chunks of eight frames as the service
does, by a graph that holds its own language model, alone and with a large one in that one's place.
Seconds are CPU time on one thread, the search alone; `history beam` and `gain limit` in nats.
`tokens`: alive at the end of a chunk, on average.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.posteriors import Utterance
from benchmarks.wfst.word_errors import WordErrors
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.wfst.search_lm import NumberedLm, SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.search.ctc_searches import graph_search_sizes
from earshot.streaming.words.fitted_words import words_of

SEED = 7
CHUNK = 8
HEADER = (
    "language model", "history beam", "gain limit", "tokens", "ms a frame", "times the graph's",
    "word errors, %",
)  # fmt: skip


@dataclass(frozen=True)
class Best:
    """A recording's words and their cost."""

    text: str
    cost: float


@dataclass(frozen=True)
class Heard:
    """What one arm did: seconds of CPU, frames, tokens after each chunk, and what it found best."""

    seconds: float
    frames: int
    tokens: float
    found: list[Best]

    @property
    def frame_ms(self) -> float:
        """CPU for a frame."""
        return 1e3 * self.seconds / self.frames

    def errors(self, truths: Sequence[str]) -> WordErrors:
        """Of its words."""
        return WordErrors.of(truths, [best.text for best in self.found])


class Trial:
    """Recordings through one search, with other language models each time."""

    def __init__(self, graph: Graph, sizes: WfstSearchConfig, options: WfstOptions) -> None:
        self._texts = graph.word_texts
        self._search = WfstSearch(graph, sizes, 1)
        self._search.set_options(0, options)
        self._slot = torch.tensor([0])

    def hear(self, heard: Sequence[Utterance], lm: SearchLm | None) -> Heard:
        """Search all; what a list's best is, is what was said."""
        self._search.set_lm(0, lm)
        found, counts, seconds = [], [], 0.0
        for each in heard:
            self._search.reset(self._slot)
            rows = torch.from_numpy(each.log_probs)
            for part in rows.split(CHUNK):
                length = torch.tensor([len(part)])
                began = time.process_time()
                self._search.advance(self._slot, part[None], length)
                seconds += time.process_time() - began
                counts += self._search.num_tokens(self._slot)
            found.append(self._best())
        frames = sum(len(each.log_probs) for each in heard)
        return Heard(seconds, frames, sum(counts) / len(counts), found)

    @property
    def overflows(self) -> int:
        """How often the search had no room."""
        return self._search.overflows()

    def _best(self) -> Best:
        [listed] = self._search.nbest([0], 10)
        if listed is None:
            listed = [self._search.best(self._slot, finalize=True)[0].hypothesis]
        text = " ".join(self._texts[word] for word in listed[0].words)
        return Best(text, listed[0].cost)


def arms(graph: Graph, image: LmImage, scale: float) -> Iterator[SearchLm | None]:
    """None is the graph alone."""
    assert graph.small_lm is not None
    small, large = (NumberedLm.of(each, graph.word_texts) for each in (graph.small_lm, image))
    yield None
    for history_beam, gain in ((0.0, 3.0), (3.0, 1.5), (3.0, 3.0), (3.0, 6.0), (math.inf, 3.0)):
        yield SearchLm(small, [large], (1.0,), scale, gain, history_beam)


def main() -> None:
    """Run it and print, or write, the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", type=Path, help="one that holds its language model")
    parser.add_argument("lm", type=Path, help="an image")
    parser.add_argument("--per-corpus", type=int, default=20)
    parser.add_argument("--max-active", type=int, default=GraphSearchConfig.max_active)
    parser.add_argument("--write", action="store_true", help="the page")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    loaded = load_model(bundled_model_dir())
    words = words_of(read_graph(asked.graph), loaded)
    config = GraphSearchConfig(max_active=asked.max_active).of(loaded.model.config.decoding)
    options = config.options(GraphOptions())
    sizes = graph_search_sizes(EngineConfig(threads=1, graph_search=config))
    chosen = recordings(SHARED / "speech" / "dev.tsv", asked.per_corpus, seed=SEED)
    heard = posteriors(loaded, chosen, words)
    trial = Trial(words.graph, sizes, options)
    trial.hear(heard[:10], None)  # finds nothing in the caches
    lines: list[tuple[str, ...]] = []
    alone: Heard | None = None
    for lm in arms(words.graph, LmImage(asked.lm), options.graph_scale):
        own = trial.hear(heard, lm)
        alone = alone or own
        lines.append(line_of(lm, own, alone, [each.text for each in heard]))
        print(lines[-1], flush=True)
    about = below_claim(__doc__)
    body = f"{about}\n\n{len(heard)} recordings, {own.frames:,} frames.\n\n{table(HEADER, lines)}\n"
    show_report("on_the_fly", "A large model in the search", body, is_written=asked.write)


def line_of(lm: SearchLm | None, own: Heard, alone: Heard, truths: list[str]) -> tuple[str, ...]:
    """A row of the table."""
    limits = ("", "") if lm is None else (f"{lm.history_beam:g}", f"{lm.gain_limit:g}")
    return (
        "the graph's" if lm is None else "large", *limits, f"{own.tokens:.0f}",
        f"{own.frame_ms:.4f}", f"{own.seconds / alone.seconds:.2f}",
        f"{own.errors(truths).percent:.2f}",
    )  # fmt: skip


if __name__ == "__main__":
    main()
