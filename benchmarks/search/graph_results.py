"""Claim: lists and confidences of a graph search take some tenths of a millisecond.

``PYTHONPATH=tests/decoder_kernels:. python -m benchmarks.search.graph_results`` replays development
recordings of the bundled model through a search as the service has it by default, one after the
other: on the way lists of ten, at the end a list and the confidences of the best hypothesis. Then
sixteen slots at a time are asked for lists in one call. The plain Python that the tests compare
with reads the same slots in the same run, and must find the same. CPU times, without the search.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch
from results_oracle.confidence import WordConfidences
from results_oracle.slot import SlotOracle

from benchmarks.report import SHARED, table, write_report
from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.ours import Batch
from benchmarks.wfst.posteriors import Utterance
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, nats
from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.search.ctc_searches import graph_search_sizes
from earshot.streaming.words.fitted_words import words_of

LISTED = 10
LOOK_EVERY_FRAMES = 50
SLOTS = 16
SLOT = torch.tensor([0])
PARTIAL, FINAL, SURE = "list on the way", "list at the end", "confidences at the end"
TOGETHER = "sixteen lists at the end"
HEADER = ("", "times", "", "mean ms", "95 % ms", "most ms", "ratio of means")

T = TypeVar("T")


class Trial:
    """A search, and how long its results took, by what was asked and who answered."""

    def __init__(self, search: WfstSearch, options: WfstOptions, config: GraphSearchConfig) -> None:
        self._search, self._options, self._config = search, options, config
        for slot in range(search.num_slots):
            search.set_options(slot, options)
        self.seconds: dict[tuple[str, str], list[float]] = defaultdict(list)

    def take(self, utterance: Utterance) -> None:
        """One recording."""
        rows = torch.from_numpy(utterance.log_probs)[None]
        self._search.reset(SLOT)
        for start in range(0, rows.shape[1], LOOK_EVERY_FRAMES):
            chunk = rows[:, start : start + LOOK_EVERY_FRAMES].contiguous()
            self._search.advance(SLOT, chunk, torch.tensor([chunk.shape[1]]))
            if start + LOOK_EVERY_FRAMES < rows.shape[1]:
                self._list(PARTIAL, [0], ended=False)
        [best, *_] = self._list(FINAL, [0], ended=True)
        self._confidences(best)

    def take_together(self, utterances: Sequence[Utterance]) -> None:
        """As many as there are slots."""
        slots = list(range(len(utterances)))
        self._search.reset(torch.tensor(slots))
        batch = Batch.of([torch.from_numpy(each.log_probs) for each in utterances])
        self._search.advance(torch.tensor(slots), batch.log_probs, batch.lengths)
        self._list(TOGETHER, slots, ended=True)

    def _list(self, what: str, slots: Sequence[int], *, ended: bool) -> list[WfstHypothesis]:
        """Of the last of the slots."""
        lists = self._timed(
            what, "native", lambda: self._search.nbest(slots, LISTED, finalize=[ended] * len(slots))
        )
        wanted = self._timed(
            what,
            "Python",
            lambda: [self._oracle(slot).nbest(LISTED, finalize=ended) for slot in slots],
        )
        for found, expected in zip(lists, wanted, strict=True):
            assert found is not None
            assert [(one.cost, one.words) for one in found] == [
                (nats(one.cost), tuple(word for word, _ in one.words)) for one in expected
            ]
        return lists[-1] or []

    def _confidences(self, best: WfstHypothesis) -> None:
        scale, coverage = self._config.posterior_scale, self._config.coverage

        def native() -> Sequence[float]:
            [sure] = self._search.confidences([0], scale, coverage)
            assert sure is not None
            return sure.of(best.words, best.frames)

        def python() -> Sequence[float]:
            lattice = self._oracle(0).lattice(finalize=True)
            sure = WordConfidences(lattice, scale, coverage)
            return list(sure.of(best.words, best.frames))

        ours, theirs = self._timed(SURE, "native", native), self._timed(SURE, "Python", python)
        assert np.allclose(ours, theirs, rtol=0.0, atol=1e-11)

    def _oracle(self, slot: int) -> SlotOracle:
        return SlotOracle(self._search, slot, self._options, None)

    def _timed(self, what: str, who: str, ask: Callable[[], T]) -> T:
        began = time.process_time()
        answer = ask()
        self.seconds[what, who].append(time.process_time() - began)
        return answer

    def rows(self) -> Iterator[list[str]]:
        """A line for each question and who answered."""
        for what in (PARTIAL, FINAL, SURE, TOGETHER):
            python = float(np.mean(self.seconds[what, "Python"]))
            for who in ("native", "Python"):
                ms = 1e3 * np.array(self.seconds[what, who])
                numbers = (ms.mean(), np.percentile(ms, 95), ms.max())
                ratio = python / (ms.mean() / 1e3)
                yield [what, str(len(ms)), who, *(f"{n:.2f}" for n in numbers), f"{ratio:.1f}"]


def main() -> None:
    """Run it and write docs/benchmarks/graph_results.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-corpus", type=int, default=20)
    parser.add_argument("--lattice-beam", type=float, default=GraphSearchConfig.lattice_beam)
    parser.add_argument("--max-active", type=int, default=GraphSearchConfig.max_active)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    loaded = load_model(bundled_model_dir())
    words = words_of(read_graph(bundled_model_dir() / "lm.graph.xz"), loaded)
    chosen = recordings(SHARED / "speech" / "dev.tsv", arguments.per_corpus, seed=1)
    asked = replace(
        GraphSearchConfig().of(loaded.model.config.decoding),
        lattice_beam=arguments.lattice_beam,
        max_active=arguments.max_active,
    )
    sizes = graph_search_sizes(EngineConfig(threads=1, graph_search=asked))
    search = WfstSearch(words.graph, sizes, SLOTS)
    trial = Trial(search, asked.options(GraphOptions()), asked)
    heard = posteriors(loaded, chosen, words)
    trial.take(heard[0])
    trial.seconds.clear()  # the first has found nothing in the caches
    for utterance in heard:
        trial.take(utterance)
    for first in range(0, len(heard) - SLOTS + 1, SLOTS):
        trial.take_together(heard[first : first + SLOTS])
    rows = list(trial.rows())
    body = f"""
{len(heard)} recordings, {sum(len(each.log_probs) for each in heard):,} frames, lists after every
{LOOK_EVERY_FRAMES} of them; lattice_beam {asked.lattice_beam:g}, max_active {asked.max_active:,}.
Both found the same lists, and confidences within 1e-11.

{table(HEADER, rows)}
"""
    print(write_report("graph_results", "Lists and confidences of a graph search", body.lstrip()))
    print(body)


if __name__ == "__main__":
    main()
