"""Words that sound alike and begin others, and the text of their models: of these are graphs."""

import random

from earshot.language.graphs.build import Units
from earshot.language.ngrams.arpa import Arpa

UNITS = Units(["<blank>", "x", "y", "z"], 0)
WORDS = ("a", "b", "c", "d", "e", "f")
SCALES = (1.0, 0.9, 0.3, 1 / 3, 10.0)
Spellings = dict[str, list[tuple[int, ...]]]


def arpa_text(arpa: Arpa) -> str:
    lines = ["\\data\\", *(f"ngram {n}={len(rows)}" for n, rows in enumerate(arpa.orders, 1))]
    for n, rows in enumerate(arpa.orders, 1):
        lines.append(f"\\{n}-grams:")
        for words, (prob, back_off) in rows.items():
            end = f" {back_off!r}" if n < arpa.order else ""
            lines.append(f"{prob!r} {' '.join(arpa.words[word] for word in words)}{end}")
    return "\n".join([*lines, "\\end\\", ""])


def spellings_of(seed: int) -> Spellings:
    """Of three tokens, so that words sound alike and begin others."""
    draw = random.Random(seed)
    return {
        word: [
            tuple(draw.choices((1, 2, 3), k=draw.randint(1, 3))) for _ in range(draw.randint(1, 2))
        ]
        for word in WORDS
    }
