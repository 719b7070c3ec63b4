"""Word error rate."""

from collections.abc import Sequence


def word_errors(pairs: Sequence[tuple[str, str]]) -> float:
    """Errors per reference word over all (reference, hypothesis) pairs; case does not count."""
    errors = words = 0
    for reference, hypothesis in pairs:
        expected, heard = reference.lower().split(), hypothesis.lower().split()
        errors += _distance(expected, heard)
        words += len(expected)
    return errors / max(1, words)


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
