"""Claim: a language model that a request names makes finals better than the graph's own does.

Recordings through an engine with all defaults but those named. `worse`: errors more than the graph
alone makes, with the interval of the paired difference over recordings. A graph that does not hold
its n-grams (`earshot graph info`) has the models added, one that does has them in its own's place.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from benchmarks.recognition.fewer_bits import changed, difference
from benchmarks.recognition.served_wer import DEV, Served
from benchmarks.report import table, write_report
from benchmarks.wfst.bundled import recordings
from benchmarks.wfst.word_errors import WordErrors
from earshot.models.bundled import bundled_model_dir
from earshot.streaming.graph_config import GraphOptions
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


@dataclass(frozen=True)
class Arm:
    """A pass, the model that streams name, and the weight of the graph's costs; None: the usual."""

    name: str
    lm: str | None = None
    weight: float | None = None

    @property
    def config(self) -> StreamConfig:
        """What its streams ask for."""
        mix = None if self.lm is None else LmMix(((self.lm, 1.0),))
        return replace(PASSES[self.name], graph=GraphOptions(lm=mix, lm_weight=self.weight))

    @property
    def cells(self) -> tuple[str, str, str]:
        """What the table calls it."""
        return self.name, self.lm or "the graph's", f"{self.weight:g}" if self.weight else "usual"


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
    parser.add_argument("names", nargs="+", help="of models in it")
    parser.add_argument("--graph", type=Path, help="another than the bundled one")
    parser.add_argument("--weights", type=float, nargs="*", default=[], help="lm_weight of arms")
    parser.add_argument("--passes", nargs="+", choices=PASSES, default=list(PASSES))
    parser.add_argument("--count", type=int, default=60, help="recordings of each corpus")
    parser.add_argument("--corpora", nargs="+", help="all if absent")
    parser.add_argument("--write", action="store_true", help="the page")
    return parser.parse_args()


def main() -> None:
    """Run it and print, or write, the page."""
    asked = parsed()
    torch.set_num_threads(1)
    chosen = recordings(DEV, asked.count, SEED, asked.corpora)
    corpora = sorted({each.corpus for each in chosen})
    audio_s = sum(each.seconds for each in chosen)
    served = Served(bundled_model_dir(), FRAMES, asked.graph, lm_dir=asked.lm_dir)
    lines: list[tuple[str, ...]] = []
    for name in asked.passes:
        alone: Heard | None = None
        for weight in asked.weights or [None]:
            for lm in (None, *asked.names):
                arm = Arm(name, lm, weight)
                began = time.process_time()
                texts = served.hear(chosen, arm.config).texts
                own = Heard(texts, (time.process_time() - began) / audio_s)
                alone = alone or own
                lines += lines_of(arm, own, alone, chosen, corpora)
                print(lines[-1], flush=True)
    served.close()
    about = (__doc__ or "").split("\n", 2)[2].strip()
    words = sum(len(each.text.split()) for each in chosen)
    said = f"{len(chosen)} recordings, {words} words, {audio_s / 60:.0f} minutes."
    body = f"{about}\n\n{said}\n\n{table(HEADER, lines)}\n"
    print(body)
    if asked.write:
        print(write_report("named_lms", "Language models by name", body))


if __name__ == "__main__":
    main()
