"""Claim: fewer bits change few words of the bundled model's, and its error rate hardly.

Recordings of every corpus through an engine with all defaults, a third of a minute or less each,
by what linear layers multiply. `changed`: words unlike float32's, by edit distance; `worse`: errors
more than float32's, with the interval of the paired difference over recordings.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from benchmarks.recognition.served_wer import DEV, Served
from benchmarks.report import below_claim, table, write_report
from benchmarks.wfst.bundled import recordings
from benchmarks.wfst.word_errors import CONFIDENCE, WordErrors
from earshot.models.bundled import bundled_model_dir
from earshot.models.native.precision import PrecisionChoice
from earshot.streaming.stream_config import StreamConfig
from earshot.training.corpus.utterance import Utterance

SEED = 5
FRAMES = 16
EXACT: PrecisionChoice = "float32"
PRECISIONS: tuple[PrecisionChoice, ...] = (EXACT, "bfloat16", "int8", "w8a8")


@dataclass(frozen=True)
class Heard:
    """Texts of recordings, and seconds of CPU for a second of audio."""

    texts: Sequence[str]
    factor: float


def hear(precision: PrecisionChoice, chosen: Sequence[Utterance], audio_s: float) -> Heard:
    """All recordings, several at once."""
    served = Served(bundled_model_dir(), FRAMES, precision=precision)
    began = time.process_time()
    texts = served.hear(chosen, StreamConfig(interim_results=False)).texts
    factor = (time.process_time() - began) / audio_s
    served.close()
    return Heard(texts, factor)


def row(precision: str, chosen: Sequence[Utterance], exact: Heard, own: Heard) -> tuple[str, ...]:
    """A line of the table."""
    truths = [each.text for each in chosen]
    errors, before = WordErrors.of(truths, own.texts), WordErrors.of(truths, exact.texts)
    more, margin = difference(errors, before)
    told = f"{more:+.2f} ± {margin:.2f}"
    others = changed(exact.texts, own.texts)
    return precision, f"{own.factor:.3f}", f"{errors.percent:.2f}", f"{others.percent:.2f}", told


def changed(exact: Sequence[str], own: Sequence[str]) -> WordErrors:
    """Words that others have become. Where nothing was heard, whatever is heard now has changed."""
    return WordErrors.of([text or "-" for text in exact], [text or "-" for text in own])


def difference(one: WordErrors, other: WordErrors) -> tuple[float, float]:
    """Percent of words that one has wrong and other has not, and half of the interval of 95 %."""
    said = sum(one.said)
    apart = [a - b for a, b in zip(one.errors, other.errors, strict=True)]
    rate = sum(apart) / said
    pairs = zip(apart, one.said, strict=True)
    spread = math.sqrt(sum((more - rate * words) ** 2 for more, words in pairs))
    return 100 * rate, 100 * CONFIDENCE * spread / said


def main() -> None:
    """Run it and write docs/benchmarks/fewer_bits.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=60, help="recordings of each corpus")
    options = parser.parse_args()
    torch.set_num_threads(1)
    chosen = recordings(DEV, options.count, SEED)
    audio_s = sum(each.seconds for each in chosen)
    heard = {each: hear(each, chosen, audio_s) for each in PRECISIONS}
    lines = [row(each, chosen, heard[EXACT], own) for each, own in heard.items()]
    words = sum(len(each.text.split()) for each in chosen)
    header = ("multiplies", "CPU, s a second", "word errors, %", "changed, %", "worse, %")
    about = below_claim(__doc__)
    said = f"{len(chosen)} recordings, {words} words, {audio_s / 60:.0f} minutes."
    body = f"{about}\n\n{said}\n\n{table(header, lines)}\n"
    print(write_report("fewer_bits", "What fewer bits change", body))


if __name__ == "__main__":
    main()
