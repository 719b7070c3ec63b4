"""Claim: a language model that a request names makes finals better than the graph's own does.

Recordings through an engine with all defaults but those named. `worse`: errors more than the graph
alone makes, with the interval of the paired difference over recordings. A graph that does not hold
its n-grams (`earshot graph info`) has the models added, one that does has them in its own's place:
`ranked`, in lattices of finals, or `searched`, word by word (`lm_in_search`). `listed`: in lists of
a hundred, as where a lattice is too large. `static`: a graph of the large model itself.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from unittest.mock import patch

import torch

from benchmarks.recognition.fewer_bits import changed, difference
from benchmarks.recognition.served_wer import DEV, Served
from benchmarks.report import below_claim, show_report, table
from benchmarks.wfst.bundled import recordings
from benchmarks.wfst.word_errors import WordErrors
from earshot.models.bundled import bundled_model_dir
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.language_models.list_prices import ListPrices
from earshot.streaming.lm_mix import LmMix
from earshot.streaming.stream_config import StreamConfig
from earshot.training.corpus.utterance import Utterance

SEED = 7
FRAMES = 16
PASSES = {
    "first": StreamConfig(mode="ctc_wfst_beam_search", interim_results=False),
    "second": StreamConfig(interim_results=False, weights={"neural_lm": 0.0}),
    "second, neural": StreamConfig(interim_results=False),
}
HEADER = (
    "corpus", "pass", "language model", "lm_weight", "word errors, %", "changed, %", "worse, %",
    "CPU, s a second",
)  # fmt: skip
WAYS = ("listed", "ranked", "searched")


@dataclass(frozen=True)
class Arm:
    """A pass, the model that streams name, and the weight of the graph's costs; None: the usual.

    way: how the model is used; of another graph alone what it is.
    """

    name: str
    lm: str | None = None
    weight: float | None = None
    way: str = ""

    @property
    def config(self) -> StreamConfig:
        """What its streams ask for."""
        mix = None if self.lm is None else LmMix.read(self.lm)
        return replace(PASSES[self.name], graph=GraphOptions(lm=mix, lm_weight=self.weight))

    @property
    def cells(self) -> tuple[str, str, str]:
        """What the table calls it."""
        model = f"{self.lm}, {self.way}" if self.lm else self.way or "the graph's"
        return self.name, model, f"{self.weight:g}" if self.weight else "usual"


@dataclass(frozen=True)
class Heard:
    """Texts of recordings, and seconds of CPU for a second of audio."""

    texts: Sequence[str]
    factor: float


def lines_of(
    arm: Arm, own: Heard, alone: Heard, chosen: Sequence[Utterance], corpora: Sequence[str]
) -> list[tuple[str, ...]]:
    """A line for each corpus, and one for all of them."""
    lines = []
    for corpus in (*corpora, "all"):
        places = [place for place, each in enumerate(chosen) if corpus in ("all", each.corpus)]
        truths = [chosen[place].text for place in places]
        texts, before = ([each.texts[place] for place in places] for each in (own, alone))
        errors = WordErrors.of(truths, texts)
        more, margin = difference(errors, WordErrors.of(truths, before))
        others = changed(before, texts).percent
        lines.append(
            (corpus, *arm.cells, f"{errors.percent:.2f}", f"{others:.2f}",
             f"{more:+.2f} ± {margin:.2f}", f"{own.factor:.3f}")
        )  # fmt: skip
    return lines


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lm_dir", type=Path, help="folder of the models, as `earshot serve` has it")
    parser.add_argument("names", nargs="+", help="of models in it, or mixes, as a request's lm")
    parser.add_argument("--graph", type=Path, help="another than the bundled one")
    parser.add_argument("--static", type=Path, help="a graph of the large model, to compare with")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["ranked", "searched"])
    parser.add_argument("--weights", type=float, nargs="*", default=[], help="lm_weight of arms")
    parser.add_argument("--passes", nargs="+", choices=PASSES, default=list(PASSES))
    parser.add_argument("--count", type=int, default=60, help="recordings of each corpus")
    parser.add_argument("--corpora", nargs="+", help="all if absent")
    parser.add_argument("--paths", default="*", help="pattern of the recordings' paths")
    parser.add_argument("--write", action="store_true", help="the page")
    return parser.parse_args()


@dataclass(frozen=True)
class Trial:
    """An engine's options, and the arms that it hears, for one pass."""

    graph: Path | None
    models: Sequence[str | None]
    way: str = ""

    def arms(self, name: str, weights: Sequence[float | None]) -> Iterator[Arm]:
        """Each model at each weight."""
        for weight in weights:
            for lm in self.models:
                yield Arm(name, lm, weight, self.way)


def trials(asked: argparse.Namespace) -> Iterator[Trial]:
    """Engines to compare, the graph alone first."""
    yield Trial(asked.graph, [None])
    for way in asked.ways:
        yield Trial(asked.graph, asked.names, way)
    if asked.static:
        yield Trial(asked.static, [None], "static")


class Table:
    """Lines as they are heard, beside what the graph alone makes of the same pass and weight."""

    def __init__(self, chosen: Sequence[Utterance]) -> None:
        self.lines: list[tuple[str, ...]] = []
        self.audio_s = sum(each.seconds for each in chosen)
        self._chosen = chosen
        self._corpora = sorted({each.corpus for each in chosen})
        self._alone: dict[tuple[str, float | None], Heard] = {}

    def hear(self, served: Served, arm: Arm) -> None:
        """Hear all recordings, and add their lines."""
        began = time.process_time()
        texts = served.hear(self._chosen, arm.config).texts
        own = Heard(texts, (time.process_time() - began) / self.audio_s)
        alone = self._alone.setdefault((arm.name, arm.weight), own)
        self.lines += lines_of(arm, own, alone, self._chosen, self._corpora)
        print(self.lines[-1], flush=True)


def no_lattices() -> AbstractContextManager[object]:
    """A time in which each lattice is held to be too large."""
    return patch.object(ListPrices, "paths", return_value=None)


def main() -> None:
    """Run it and print, or write, the page."""
    asked = parsed()
    torch.set_num_threads(1)
    drawn = recordings(DEV, asked.count, SEED, asked.corpora)
    chosen = [each for each in drawn if fnmatch(str(each.path), asked.paths)]
    found = Table(chosen)
    for trial in trials(asked):
        served = Served(
            bundled_model_dir(), FRAMES, trial.graph,
            lm_dir=asked.lm_dir, lm_in_search=trial.way == "searched",
        )  # fmt: skip
        with no_lattices() if trial.way == "listed" else nullcontext():
            for name in asked.passes:
                for arm in trial.arms(name, asked.weights or [None]):
                    found.hear(served, arm)
        served.close()
    about = below_claim(__doc__)
    words = sum(len(each.text.split()) for each in chosen)
    said = f"{len(chosen)} recordings, {words} words, {found.audio_s / 60:.0f} minutes."
    body = f"{about}\n\n{said}\n\n{table(HEADER, found.lines)}\n"
    show_report("named_lms", "Language models by name", body, is_written=asked.write)


if __name__ == "__main__":
    main()
