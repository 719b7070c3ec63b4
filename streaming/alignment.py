"""CTC forced alignment: at which frame each token of a given hypothesis was most likely emitted.

The attention decoder's own hypotheses have no times; this gives them some.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from torch import Tensor


def align(log_probs: Tensor, tokens: Sequence[int], blank_id: int) -> list[int]:
    """Emission frame of each token on the best path through `log_probs (T, V)` (Viterbi).

    A token that spans several frames is placed where it is most likely. Tokens that no CTC path can
    hold (more of them than frames) are spread evenly: the hypothesis stands, only its times are a
    guess.
    """
    if not tokens:
        return []
    repeats = sum(left == right for left, right in itertools.pairwise(tokens))
    num_frames = len(log_probs)
    if len(tokens) + repeats > num_frames:
        return [index * num_frames // len(tokens) for index in range(len(tokens))]
    labels = np.full(2 * len(tokens) + 1, blank_id)
    labels[1::2] = tokens
    emissions = log_probs.cpu().numpy()[:, labels]
    return _peaks(_best_path(emissions, labels), emissions, len(tokens))


def _best_path(emissions: npt.NDArray[np.float32], labels: npt.NDArray[np.int_]) -> list[int]:
    """The state `0..2N` of each frame on the best path over `emissions (T, 2N + 1)`."""
    num_frames, num_states = emissions.shape
    skip_cost = np.full(num_states, -np.inf)
    skip_cost[3::2] = np.where(labels[3::2] != labels[1:-2:2], 0.0, -np.inf)
    scores = np.full(num_states, -np.inf)
    scores[:2] = emissions[0, :2]
    by_one, by_two = np.full((2, num_states), -np.inf)
    steps = np.zeros((num_frames, num_states), np.int8)
    # In place, because this runs for every partial of a graph search.
    for frame in range(1, num_frames):
        by_one[1:] = scores[:-1]
        np.add(scores[:-2], skip_cost[2:], out=by_two[2:])
        for step, moved in ((1, by_one), (2, by_two)):
            steps[frame][moved > scores] = step
            np.maximum(scores, moved, out=scores)
        scores += emissions[frame]
    state = num_states - 1 if scores[-1] >= scores[-2] else num_states - 2
    path = []
    for frame in reversed(range(num_frames)):
        path.append(state)
        state -= int(steps[frame, state])
    return path[::-1]


def _peaks(path: Sequence[int], emissions: npt.NDArray[np.float32], num_tokens: int) -> list[int]:
    """For each token the frame, among those the path gives it, where it is most likely."""
    peaks = [-1] * num_tokens
    for frame, state in enumerate(path):
        token = state // 2
        if state % 2 and (
            peaks[token] < 0 or emissions[frame, state] > emissions[peaks[token], state]
        ):
            peaks[token] = frame
    return peaks
