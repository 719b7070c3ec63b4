"""Word error rate."""

from collections.abc import Sequence

MARKS = '.,?!;:…"'


def word_errors(pairs: Sequence[tuple[str, str]]) -> float:
    """Errors per reference word over all (reference, hypothesis) pairs.

    Case and marks do not count.
    """
    errors = words = 0
    for reference, hypothesis in pairs:
        expected, heard = _words(reference), _words(hypothesis)
        errors += _distance(expected, heard)
        words += len(expected)
    return errors / max(1, words)


def _words(text: str) -> list[str]:
    bare = (word.strip(MARKS) for word in text.lower().split())
    return [word for word in bare if word]


def _distance(expected: Sequence[str], heard: Sequence[str]) -> int:
    """Levenshtein's distance, row by row."""
    row = list(range(len(heard) + 1))
    for deletions, word in enumerate(expected, start=1):
        diagonal, row[0] = row[0], deletions
        for index, other in enumerate(heard, start=1):
            substituted = diagonal + (word != other)
            diagonal = row[index]
            row[index] = min(substituted, row[index] + 1, row[index - 1] + 1)
    return row[-1]
