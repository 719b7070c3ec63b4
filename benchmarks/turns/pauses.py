"""Claim: by what was said and how it sounded, turns end sooner than by silence that cuts as many.

Development recordings, live, that go on in their own room for three seconds. A *pause* is silence
that the engine asks about (`TurnStep`); one with speech behind it is inside an utterance, the last
one is an end. *Cut*: the rule would have ended the utterance in a pause inside. *Ends*: how long
the pause at an end has to be. What comes on top of that to a final, a step and its second pass, is
in [what a speaker waits for](felt_latency.md). The head was fitted to training recordings, and its
rule chosen on others than those that it is shown for (`benchmarks/turns/fitted_head.py`).
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch

from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.turns.pause_log import chosen, pauses_in
from earshot.models.bundled import bundled_model_dir
from earshot.models.turns.turn_head import TurnHead
from earshot.models.turns.turn_head_file import TURNS_FILE, load_turn_head
from earshot.models.turns.turn_rule import TurnRule
from earshot.streaming.stream_config import MIN_SILENCE_MS
from earshot.training.corpus.put_aside import read_dev_speech
from earshot.training.turns.rule_choice import with_chosen_rule
from earshot.training.turns.turn_fit import HeardPause

CORPORA = ("librispeech", "speechocean", "coffee")
TIMEOUT_MS = 1400
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
SILENCES_MS = (300, 500, 700, 1000, 1400)


@dataclass(frozen=True)
class Ending:
    """When turns end by some rule. cuts: of pauses inside, in percent."""

    cuts: float
    ends_ms: Sequence[float]

    @classmethod
    def of(cls, pauses: Sequence[HeardPause], needed_ms: Sequence[float]) -> "Ending":
        """By the pause that each one has to last."""
        pairs = list(zip(pauses, needed_ms, strict=True))
        inside = [pause.length_ms >= needed for pause, needed in pairs if not pause.is_end]
        ends = [needed for pause, needed in pairs if pause.is_end]
        return cls(100 * sum(inside) / max(len(inside), 1), ends)

    @property
    def cells(self) -> list[str]:
        """Cut, and the pauses at ends."""
        p50, p90 = np.percentile(self.ends_ms, [50, 90])
        return [f"{self.cuts:.1f}", f"{p50:.0f} / {p90:.0f}"]


def needed_ms(
    pauses: Sequence[HeardPause], threshold: float, rule: TurnRule, sounds: Sequence[float]
) -> list[float]:
    """How long each pause has to be, within its limits."""
    asked = [
        rule.pause_ms(pause.end_log_prob, threshold, sound)
        for pause, sound in zip(pauses, sounds, strict=True)
    ]
    return [min(max(each, MIN_SILENCE_MS), TIMEOUT_MS) for each in asked]


def rules(head: TurnHead) -> dict[str, Callable[[Sequence[HeardPause]], Sequence[float]]]:
    """What may end turns, by its name."""
    named: dict[str, Callable[[Sequence[HeardPause]], Sequence[float]]] = {}
    for ms in SILENCES_MS:
        named[f"silence of {ms} ms"] = lambda pauses, ms=ms: [ms] * len(pauses)
    for each in THRESHOLDS:
        named[f"words, `eot_threshold={each:g}`"] = lambda pauses, each=each: needed_ms(
            pauses, each, TurnRule(), [0.0] * len(pauses)
        )
    for each in THRESHOLDS:
        named[f"and sound, `eot_threshold={each:g}`"] = lambda pauses, each=each: needed_ms(
            pauses, each, head.rule, head.sounds(torch.stack([p.stretches for p in pauses]))
        )
    return named


Part: TypeAlias = tuple[Sequence[HeardPause], TurnHead]
"""Pauses, and the head that is asked about them."""


def rows(parts: Sequence[Part], corpora: Sequence[str] = CORPORA) -> list[list[str]]:
    """A line for each rule, of all corpora and of each."""
    pauses = [pause for own, _ in parts for pause in own]
    found = []
    for name in rules(parts[0][1]):
        needed = [ms for own, head in parts for ms in rules(head)[name](own)]
        cells = Ending.of(pauses, needed).cells
        for corpus in corpora:
            pairs = [pair for pair in zip(pauses, needed, strict=True) if pair[0].corpus == corpus]
            cells += Ending.of([pause for pause, _ in pairs], [ms for _, ms in pairs]).cells
        found.append([name, *cells])
    return found


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
