"""Claim: what a transducer's head on the bundled model's frozen encoder hears, beside CTC's.

Recordings of the development set through the engine's own streams, as clients get them, in chunks
of 16 frames (640 ms), by each way to decode. The heads learn by `bundled-transducer.toml` and
`bundled-tdt.toml`; nothing else of the model differs. `CPU`: seconds of one core for a second of
sound, sixteen streams at a time. `changed`: words unlike those of the same way in float32.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.recognition.fewer_bits import EXACT, changed
from benchmarks.recognition.served_wer import DEV, Heard, Served
from benchmarks.report import below_claim, table, write_report
from benchmarks.wfst.bundled import recordings
from earshot.models.bundled import bundled_model_dir
from earshot.models.native.precision import PrecisionChoice
from earshot.streaming.stream_config import StreamConfig
from earshot.training.corpus.utterance import Utterance

FRAMES = 16
BY_CTC = (
    "ctc_greedy_search",
    "ctc_prefix_beam_search",
    "ctc_wfst_beam_search",
    "attention_rescoring",
)
BY_LABELS = ("transducer_greedy_search", "transducer_beam_search")


@dataclass(frozen=True)
class Arm:
    """One way to decode a model.

    frames: of a chunk. bare: without the bundled model's graph and language model.
    """

    name: str
    model: Path
    mode: str
    precision: PrecisionChoice = EXACT
    frames: int = FRAMES
    bare: bool = False


@dataclass(frozen=True)
class Found:
    """What an arm has heard, and seconds of CPU for a second of sound."""

    heard: Heard
    factor: float


def arms(rnnt: Path, tdt: Path) -> Iterator[Arm]:
    """CTC's ways, then those of both heads, in float32 and in fewer bits."""
    for mode in BY_CTC:
        yield Arm(f"CTC, `{mode}`", bundled_model_dir(), mode)
    for kind, model in (("RNN-T", rnnt), ("TDT", tdt)):
        for mode in BY_LABELS:
            yield Arm(f"{kind}, `{mode}`", model, mode)
        for precision in ("bfloat16", "int8"):
            yield Arm(f"{kind}, `{BY_LABELS[0]}`", model, BY_LABELS[0], precision)


def hear(arm: Arm, chosen: Sequence[Utterance], audio_s: float) -> Found:
    """All recordings by an arm."""
    served = Served(arm.model, arm.frames, precision=arm.precision, bare=arm.bare)
    began = time.process_time()
    heard = served.hear(chosen, StreamConfig(mode=arm.mode, interim_results=False))
    factor = (time.process_time() - began) / audio_s
    served.close()
    return Found(heard, factor)


def row(arm: Arm, found: Found, exact: Found, corpora: Sequence[str]) -> list[str]:
    """A line of the table."""
    rates = [str(found.heard.of(corpus).errors()) for corpus in corpora]
    others = changed(exact.heard.texts, found.heard.texts).percent
    told = "" if arm.precision == EXACT else f"{others:.2f}"
    return [arm.name, arm.precision, *rates, told, f"{found.factor:.3f}"]


def main() -> None:
    """Run it and write docs/benchmarks/transducer_heads.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rnnt", type=Path, required=True, help="the model with that head")
    parser.add_argument("--tdt", type=Path, required=True)
    parser.add_argument("--per-corpus", type=int, help="recordings drawn of each; all if absent")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = recordings(DEV, options.per_corpus, seed=1)
    chosen = sorted(found, key=lambda each: each.seconds)
    audio_s = sum(each.seconds for each in chosen)
    corpora = list(dict.fromkeys(each.corpus for each in chosen))
    heard = {arm: hear(arm, chosen, audio_s) for arm in arms(options.rnnt, options.tdt)}
    exact = {(arm.name, arm.model): each for arm, each in heard.items() if arm.precision == EXACT}
    lines = [row(arm, each, exact[arm.name, arm.model], corpora) for arm, each in heard.items()]
    header = ("", "multiplies", *corpora, "changed, %", "CPU")
    about = below_claim(__doc__)
    said = f"{len(chosen)} recordings, {audio_s / 60:.0f} minutes; percent of the words wrong."
    body = f"{about}\n\n{said}\n\n{table(header, lines)}\n"
    print(write_report("transducer_heads", "A transducer's head beside CTC's", body))


if __name__ == "__main__":
    main()
