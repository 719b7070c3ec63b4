"""Claim: a FastConformer that learnt from the bundled model keeps its words in fewer bits.

Recordings of the development set through the engine's own streams, as clients of a .nemo archive
get them, in each context that it was trained for, greedily by its transducer; in the first one by
its other ways too. `training/recipes/student-fastconformer.toml` trains it. `CPU`: seconds of one
core for a second of sound, sixteen streams at a time. `changed`: words unlike those of the same way
in float32, of which half a percent may be.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch

from benchmarks.recognition.fewer_bits import EXACT, PRECISIONS, changed
from benchmarks.recognition.served_wer import DEV
from benchmarks.recognition.transducer_heads import Arm, Found, hear, row
from benchmarks.report import below_claim, table, write_report
from benchmarks.wfst.bundled import recordings
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.model import FastConformerModel

GREEDY = "transducer_greedy_search"
OTHERS = ("transducer_beam_search", "ctc_greedy_search", "ctc_prefix_beam_search")
FRAME_MS = 80
LIMIT = 0.5
"""Percent of words that may change."""


def arms(model: Path, contexts: tuple[AttentionContext, ...]) -> Iterator[Arm]:
    """Greedy decoding in each context and by each precision, then the other ways in the first."""
    for context in contexts:
        frames = context.right + 1
        name = f"`{GREEDY}`, {frames * FRAME_MS} ms"
        for precision in PRECISIONS:
            yield Arm(name, model, GREEDY, precision, frames, bare=True)
    frames = contexts[0].right + 1
    for mode in OTHERS:
        yield Arm(f"`{mode}`, {frames * FRAME_MS} ms", model, mode, EXACT, frames, bare=True)


def verdict(heard: Mapping[Arm, Found]) -> str:
    """Which ways keep their words."""
    exact = {arm.name: each for arm, each in heard.items() if arm.precision == EXACT}
    over = [
        f"{arm.name} in {arm.precision}"
        for arm, each in heard.items()
        if changed(exact[arm.name].heard.texts, each.heard.texts).percent > LIMIT
    ]
    told = f"over the limit of {LIMIT} %: {'; '.join(over)}" if over else f"all within {LIMIT} %"
    return f"Changed words: {told}."


def main() -> None:
    """Run it and write its page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="the .nemo archive, or the folder that holds it")
    parser.add_argument("--per-corpus", type=int, help="recordings drawn of each; all if absent")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = load_model(options.model).model
    assert isinstance(model, FastConformerModel)
    found = recordings(DEV, options.per_corpus, seed=1)
    chosen = sorted(found, key=lambda each: each.seconds)
    audio_s = sum(each.seconds for each in chosen)
    corpora = list(dict.fromkeys(each.corpus for each in chosen))
    ways = arms(options.model, model.config.encoder.contexts)
    heard = {arm: hear(arm, chosen, audio_s) for arm in ways}
    exact = {arm.name: each for arm, each in heard.items() if arm.precision == EXACT}
    lines = [row(arm, each, exact[arm.name], corpora) for arm, each in heard.items()]
    about = below_claim(__doc__)
    said = f"{len(chosen)} recordings, {audio_s / 60:.0f} minutes; percent of the words wrong."
    header = ("", "multiplies", *corpora, "changed, %", "CPU")
    body = f"{about}\n\n{said}\n\n{table(header, lines)}\n\n{verdict(heard)}\n"
    print(write_report("student_words", "A FastConformer from the bundled model, in words", body))


if __name__ == "__main__":
    main()
