"""Claim: the bundled tagger tells capitals and marks far better than anybody's rule of thumb.

``python -m benchmarks.recognition.written_text build/marks/*.held_out.txt``: texts that it has not
learnt from, each line an utterance whose pauses nobody knows. Beside it the trivial rule: a capital
first, a full stop last, and "I". ``heard_marks`` measures both on what is heard.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks.report import table, write_report
from earshot.language.marks.pauses import END, NEWEST
from earshot.language.marks.tagger_file import TAGGER_FILE, load_tagger
from earshot.language.marks.word_tagger import NOTHING_TAGGED, Key, WordTagger
from earshot.models.bundled import bundled_model_dir
from earshot.training.tagger.scores import KINDS, Scores, trivial_tags
from earshot.training.tagger.trainer import held_out_lines, tags_of


def of_text(tagger: WordTagger, path: Path) -> dict[str, Scores]:
    """Both on a held-out text."""
    found = {"tagger": Scores(), "trivial": Scores()}
    for words in held_out_lines(path):
        found["tagger"].note(words, tags_of(tagger, words), tagger.forms)
        found["trivial"].note(words, trivial_tags([word.text for word in words]), {})
    return found


TOGETHER = 16
"""Streams whose partials share a step of the engine."""


def costs(tagger: WordTagger, path: Path) -> tuple[float, float, float]:
    """Milliseconds of a core for a final of 30 words, and for a partial with two words more.

    Of a partial alone, and of one that shares its pass with others.
    """
    keys = [(word.text, 1) for words in held_out_lines(path) for word in words][:600]
    finals = [[*keys[at : at + 29], (keys[at + 29][0], END)] for at in range(0, 570, 30)]
    begun = time.process_time()
    for each in finals:
        tagger.tag(each)
    final_ms = 1000 * (time.process_time() - begun) / len(finals)
    return final_ms, partial_ms(tagger, finals, 1), partial_ms(tagger, finals, TOGETHER)


def partial_ms(tagger: WordTagger, finals: Sequence[Sequence[Key]], together: int) -> float:
    """Milliseconds of a core for a partial with two words more, of so many in a pass."""
    spent, calls = 0.0, 0
    for first in range(0, len(finals) - together + 1, together):
        own = finals[first : first + together]
        known = [NOTHING_TAGGED] * together
        for count in range(2, 31, 2):
            asked = [[*each[: count - 1], (each[count - 1][0], NEWEST)] for each in own]
            begun = time.process_time()
            known = tagger.tag_all(list(zip(asked, known, strict=True)))
            spent, calls = spent + time.process_time() - begun, calls + together
    return 1000 * spent / calls


def rows(name: str, found: dict[str, Scores]) -> list[list[str]]:
    """A line for each way to tell them."""
    return [
        [name, how, *(f"{scores.f1[kind]:.2f}" for kind in KINDS)] for how, scores in found.items()
    ]


def main() -> None:
    """Measure, and write docs/benchmarks/written_text.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", type=Path, nargs="+", metavar="NAME.held_out.txt")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tagger = load_tagger(bundled_model_dir() / TAGGER_FILE)
    lines = [line for path in options.texts for line in rows(path.name, of_text(tagger, path))]
    final_ms, alone_ms, together_ms = costs(tagger, options.texts[0])
    body = (
        "F1 of each kind; names are capitals inside a sentence, without those of I.\n\n"
        + table(["text", "by", *KINDS], lines)
        + f"\n\nA final of 30 words takes {final_ms:.2f} ms of a core, a partial with two new "
        f"words {alone_ms:.2f} ms alone and {together_ms:.2f} ms beside {TOGETHER - 1} others.\n"
    )
    print(write_report("written_text", "Capitals and marks", body))


if __name__ == "__main__":
    main()
