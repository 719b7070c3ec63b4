"""Claim: a search that asks a large model hears what that model's graph does, at every beam.

The figures of Fukunaga 2019 in their shape: word errors and real-time factor by beam (figure 3),
and several utterances at a time (figure 4, table 1). The bundled model's posteriors over recordings
of LibriSpeech, in chunks of eight frames, searched by three arms: a small model's graph; that graph
with a large model asked word by word, at the service's limits; and a static graph of the large
model. All three are built by `earshot graph build`, of the same words. The real-time factor is of
the search alone: by beam CPU time of one thread, of several lanes the time that passes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.search.on_the_fly import CHUNK, SEED, Trial
from benchmarks.search.static_large import Limits, model_of
from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.posteriors import Utterance
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.search_lm import SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.search.ctc_searches import graph_search_sizes
from earshot.streaming.words.fitted_words import words_of

BEAMS = (8.0, 10.0, 12.0, 14.0, 16.0)
WIDE = 16.0
"""The beam of the paper's table 1, and of the rows of several lanes."""
LANES = (1, 2, 4)
WORKERS = (1, 2, 4)
FRAME_S = 0.04
BY_BEAM = (
    "beam", "word errors, %: small", "in the search", "static", "RTF: small", "in the search",
    "static", "in the search, times small", "overflows",
)  # fmt: skip
BY_LANES = (
    "lanes", "threads", "RTF of all lanes together: small", "in the search", "static",
    "times as fast: small", "in the search", "static",
)  # fmt: skip


@dataclass(frozen=True)
class Arm:
    """A graph, and whether the large model is asked."""

    graph: Graph
    has_lm: bool = False


@dataclass(frozen=True)
class Arms:
    """Small, in the search, and static; all searched with the same tokens to a frame at most."""

    small: Graph
    large: Graph
    usual: GraphSearchConfig
    max_active: int

    def __iter__(self) -> Iterator[Arm]:
        yield from (Arm(self.small), Arm(self.small, has_lm=True), Arm(self.large))

    def options(self, beam: float) -> WfstOptions:
        """The service's, with another beam."""
        usual = self.usual.options(GraphOptions())
        return replace(usual, beam=beam, max_active=self.max_active)

    def search(self, arm: Arm, beam: float, lanes: int, workers: int) -> WfstSearch:
        """One with a slot for each lane."""
        search = WfstSearch(arm.graph, replace(self._sizes(beam), workers=workers), lanes)
        for slot in range(lanes):
            search.set_options(slot, self.options(beam))
            search.set_lm(slot, self.lm(arm, beam))
        return search

    def trial(self, arm: Arm, beam: float) -> Trial:
        """A search of one lane after the other."""
        return Trial(arm.graph, self._sizes(beam), self.options(beam))

    def _sizes(self, beam: float) -> WfstSearchConfig:
        config = GraphSearchConfig(max_active=self.max_active, beam=beam)
        return graph_search_sizes(EngineConfig(threads=1, graph_search=config))

    def lm(self, arm: Arm, beam: float) -> SearchLm | None:
        """The large model in the small one's place."""
        if not arm.has_lm:
            return None
        usual = self.usual
        limits = Limits(beam, self.max_active, usual.lm_history_beam, usual.lm_gain_limit)
        return model_of(self.small, self.large, limits, self.options(beam).graph_scale)


def row_of_beam(arms: Arms, beam: float, heard: Sequence[Utterance]) -> list[str]:
    """Figure 3."""
    trials = [arms.trial(arm, beam) for arm in arms]
    found = [trial.hear(heard, arms.lm(arm, beam)) for trial, arm in zip(trials, arms, strict=True)]
    truths = [each.text for each in heard]
    return [
        f"{beam:g}",
        *(f"{each.errors(truths).percent:.2f}" for each in found),
        *(f"{each.frame_ms / 1e3 / FRAME_S:.5f}" for each in found),
        f"{found[1].seconds / found[0].seconds:.2f}",
        f"{sum(trial.overflows for trial in trials)}",
    ]


def rows_of_lanes(arms: Arms, heard: Sequence[Utterance]) -> Iterator[list[str]]:
    """Figure 4 and table 1: real time that passes for a second of all lanes' speech."""
    alone: list[float] = []
    for lanes in LANES:
        for workers in (each for each in WORKERS if each <= lanes):
            factors = [
                seconds_of(arms.search(arm, WIDE, lanes, workers), heard, lanes) for arm in arms
            ]
            alone = alone or factors
            yield [
                f"{lanes}", f"{workers}", *(f"{each:.5f}" for each in factors),
                *(f"{one / each:.2f}" for one, each in zip(alone, factors, strict=True)),
            ]  # fmt: skip


def seconds_of(search: WfstSearch, heard: Sequence[Utterance], lanes: int) -> float:
    """Seconds for a second of speech; utterances of like length side by side."""
    passed, slots = 0.0, torch.arange(lanes)
    for first in range(0, len(heard) - lanes + 1, lanes):
        rows = [torch.from_numpy(each.log_probs) for each in heard[first : first + lanes]]
        search.reset(slots)
        padded = pad_sequence(rows, batch_first=True)
        lengths = torch.tensor([len(row) for row in rows])
        began = time.perf_counter()
        for start in range(0, padded.size(1), CHUNK):
            advance(search, slots, padded[:, start : start + CHUNK], lengths - start)
        passed += time.perf_counter() - began
    frames = sum(len(each.log_probs) for each in heard[: len(heard) // lanes * lanes])
    return passed / (frames * FRAME_S)


def advance(search: WfstSearch, slots: Tensor, part: Tensor, left: Tensor) -> None:
    """A chunk of the lanes that have frames left."""
    going = left > 0
    search.advance(slots[going], part[going].contiguous(), left[going].clamp(max=part.size(1)))


def main() -> None:
    """Run it and print, or write, the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("small", type=Path, help="a graph that holds its language model")
    parser.add_argument("large", type=Path, help="one of another model with the same words")
    parser.add_argument("--recordings", type=int, default=80)
    parser.add_argument("--max-active", type=int, default=4000)
    parser.add_argument("--write", action="store_true", help="the page")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    loaded = load_model(bundled_model_dir())
    usual = GraphSearchConfig().of(loaded.model.config.decoding)
    arms = Arms(read_graph(asked.small), read_graph(asked.large), usual, asked.max_active)
    manifest = SHARED / "speech" / "dev.tsv"
    chosen = recordings(manifest, asked.recordings, seed=SEED, corpora=["librispeech"])
    heard = posteriors(loaded, chosen, words_of(arms.small, loaded))
    by_beam = table(BY_BEAM, [row_of_beam(arms, beam, heard) for beam in BEAMS])
    by_lanes = table(BY_LANES, list(rows_of_lanes(arms, heard)))
    frames = sum(len(each.log_probs) for each in heard)
    said = f"{len(heard)} recordings, {frames * FRAME_S / 60:.1f} minutes; {asked.max_active:,}"
    body = (
        f"{below_claim(__doc__)}\n\n{said} tokens of a frame at most.\n\n"
        f"## By beam\n\n{by_beam}\n\n## Several at a time, beam {WIDE:g}\n\n{by_lanes}\n"
    )
    show_report(
        "paper_figures", "A large model in the search, by beam", body, is_written=asked.write
    )


if __name__ == "__main__":
    main()
