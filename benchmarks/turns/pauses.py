"""Claim: by what was said and how it sounded, turns end sooner than by silence that cuts as many.

Development recordings, live, that go on in their own room for three seconds. A *pause* is silence
that the engine asks about (`TurnStep`); one with speech behind it is inside an utterance, the last
one is an end. *Cut*: the rule would have ended the utterance in a pause inside. *Ends*: how long
the pause at an end has to be. What comes on top of that to a final, a step and its second pass, is
in [what a speaker waits for](felt_latency.md). The head was fitted to training recordings, and its
rule chosen on others than those that it is shown for (`benchmarks/turns/fitted_head.py`).
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import torch

from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.turns.pause_log import chosen, pauses_in
from earshot.models.bundled import bundled_model_dir
from earshot.models.turns.turn_head import TurnHead
from earshot.models.turns.turn_head_file import TURNS_FILE, load_turn_head
from earshot.models.turns.turn_rule import TurnRule
from earshot.training.corpus.put_aside import read_dev_speech
from earshot.training.turns.rule_choice import (
    Floats,
    needed_ms,
    share_cut,
    sounds_of,
    with_chosen_rule,
)
from earshot.training.turns.turn_fit import HeardPause

CORPORA = ("librispeech", "speechocean", "coffee")
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
SILENCES_MS = (300, 500, 700, 1000, 1400)


Part: TypeAlias = tuple[Sequence[HeardPause], TurnHead]
"""Pauses, and the head that is asked about them."""


def needed(parts: Sequence[Part]) -> Iterator[tuple[str, Floats]]:
    """Rules by name, and how long each pause `(N,)` of all parts has to be by it."""
    count = sum(len(pauses) for pauses, _ in parts)
    for ms in SILENCES_MS:
        yield f"silence of {ms} ms", np.full(count, float(ms))
    for asked in THRESHOLDS:
        found = [needed_ms(pauses, TurnRule(), asked, [0.0] * len(pauses)) for pauses, _ in parts]
        yield f"words, `eot_threshold={asked:g}`", np.concatenate(found)
    for asked in THRESHOLDS:
        found = [needed_ms(own, head.rule, asked, sounds_of(head, own)) for own, head in parts]
        yield f"and sound, `eot_threshold={asked:g}`", np.concatenate(found)


def rows(parts: Sequence[Part], corpora: Sequence[str] = CORPORA) -> list[list[str]]:
    """A line for each rule, of all corpora and of each."""
    pauses = [pause for own, _ in parts for pause in own]
    places = [range(len(pauses))]
    places += [[i for i, pause in enumerate(pauses) if pause.corpus == each] for each in corpora]
    return [
        [name, *(cell for own in places for cell in cells([pauses[i] for i in own], ms[own]))]
        for name, ms in needed(parts)
    ]


def cells(pauses: Sequence[HeardPause], needed: Floats) -> list[str]:
    """The share of pauses inside that are cut, in percent, and the pauses at ends."""
    ends = [ms for pause, ms in zip(pauses, needed, strict=True) if pause.is_end]
    p50, p90 = np.percentile(ends, [50, 90])
    return [f"{100 * share_cut(pauses, needed):.1f}", f"{p50:.0f} / {p90:.0f}"]


def counted(pauses: Sequence[HeardPause], corpora: Sequence[str] = CORPORA) -> str:
    """How many pauses there are."""
    told = []
    for corpus in corpora:
        ends = [pause.is_end for pause in pauses if pause.corpus == corpus]
        told.append(f"{corpus} {ends.count(False)} and {ends.count(True)}")
    inside = sum(not pause.is_end for pause in pauses)
    return f"{inside} pauses inside utterances, and {len(pauses) - inside} ends: {', '.join(told)}."


def header(corpora: Sequence[str] = CORPORA) -> list[str]:
    """Two columns for all, and for each corpus."""
    columns = [(f"{name}: cut, %", "ends p50 / p90, ms") for name in ("all", *corpora)]
    return ["", *(cell for pair in columns for cell in pair)]


def crossed(head: TurnHead, one: Sequence[HeardPause], other: Sequence[HeardPause]) -> list[Part]:
    """Each half with the rule that is chosen on the other."""
    return [(one, with_chosen_rule(head, other)), (other, with_chosen_rule(head, one))]


def main() -> None:
    """Run it and print, or write, the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recordings", type=int, metavar="N", help="so many, drawn")
    parser.add_argument("--write", action="store_true", help="the page")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    model, manifest = bundled_model_dir(), SHARED / "speech" / "dev.tsv"
    head = load_turn_head(model / TURNS_FILE, "cpu")
    parts = [below_claim(__doc__)]
    speech = chosen(read_dev_speech(manifest), CORPORA, asked.recordings)
    one, other = (pauses_in(model, speech[start::2]) for start in (0, 1))
    parts += ["## Each half by the rule that is chosen on the other", counted(one + other)]
    parts += [table(header(), rows(crossed(head, one, other)))]
    aside = chosen(read_dev_speech(manifest, aside=True), CORPORA, asked.recordings)
    pauses = pauses_in(model, aside)
    parts += ["## By the bundled model's rule, of recordings that are put aside", counted(pauses)]
    parts += [table(header(), rows([(pauses, head)]))]
    body = "\n\n".join(parts)
    show_report("pauses", "Pauses and ends of turns", f"{body}\n", is_written=asked.write)


if __name__ == "__main__":
    main()
