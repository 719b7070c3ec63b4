"""What ``alignment.align`` finds where tokens fit, in plain Python."""

import math
from collections.abc import Sequence


def align(log_probs: Sequence[Sequence[float]], tokens: Sequence[int], blank_id: int) -> list[int]:
    """The frame of each token where it is likeliest on the best path; of equal ones the first."""
    labels = [blank_id]
    for token in tokens:
        labels += [token, blank_id]
    path = best_path([[row[label] for label in labels] for row in log_probs], labels)
    return [
        max(
            (frame for frame, state in enumerate(path) if state == 2 * i + 1),
            key=lambda frame: (log_probs[frame][token], -frame),
        )
        for i, token in enumerate(tokens)
    ]


def best_path(emissions: Sequence[Sequence[float]], labels: Sequence[int]) -> list[int]:
    """The state of each frame over ``emissions`` (T, S); of equal ways the shorter step."""
    scores = [*emissions[0][:2], *[-math.inf] * (len(labels) - 2)]
    ways: list[list[int]] = []
    for row in emissions[1:]:
        came = [
            max(_steps(state, labels), key=lambda way: (scores[way], way))
            for state in range(len(labels))
        ]
        scores = [scores[way] + emission for way, emission in zip(came, row, strict=True)]
        ways.append(came)
    state = max((len(labels) - 1, len(labels) - 2), key=lambda last: (scores[last], last))
    path = [state]
    for came in reversed(ways):
        path.append(came[path[-1]])
    return path[::-1]


def _steps(state: int, labels: Sequence[int]) -> list[int]:
    """The states that may come before a state: blanks between equal tokens are not skipped."""
    before = [state, state - 1]
    if state % 2 and state > 2 and labels[state] != labels[state - 2]:
        before.append(state - 2)
    return [each for each in before if each >= 0]
