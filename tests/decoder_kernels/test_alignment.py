"""Where tokens lie, against all paths and against the oracle."""

import itertools
import math

import alignment_oracle
import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.decoder_kernels.alignment import align

COARSE = st.sampled_from([0.0, -0.5, -1.0, -3.0, -50.0])
"""Many paths cost the same."""


def best_alignment(log_probs, tokens):
    """All paths, for truth."""
    best, found = -math.inf, None
    for path in itertools.product(range(log_probs.size(1)), repeat=len(log_probs)):
        spelled = [k for k, _ in itertools.groupby(path)]
        if [token for token in spelled if token] != list(tokens):
            continue
        score = sum(float(log_probs[frame, token]) for frame, token in enumerate(path))
        if score > best:
            best, found = score, path
    return found


def test_tokens_lie_on_the_best_path_at_their_likeliest_frame():
    generator = torch.Generator().manual_seed(1)
    for tokens in ([1], [1, 2], [1, 1], [2, 1, 2]):
        log_probs = torch.randn(6, 3, generator=generator).log_softmax(dim=1)
        path = best_alignment(log_probs, tokens)
        runs = [list(g) for k, g in itertools.groupby(enumerate(path), lambda x: x[1]) if k]
        peaks = [max(run, key=lambda x: float(log_probs[x[0], x[1]]))[0] for run in runs]
        assert align(log_probs, tokens, blank_id=0) == peaks


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_frames_are_those_of_the_oracle(data):
    tokens = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    least = len(tokens) + sum(a == b for a, b in itertools.pairwise(tokens))
    frames = data.draw(st.integers(least, least + 6))
    values = data.draw(st.lists(COARSE, min_size=4 * frames, max_size=4 * frames))
    rows = np.array(values, np.float32).reshape(frames, 4)
    expected = alignment_oracle.align(rows.tolist(), tokens, blank_id=0)
    assert align(torch.from_numpy(rows), tokens, blank_id=0) == expected


def test_nothing_is_aligned_to_nothing():
    assert align(torch.zeros(5, 3), [], blank_id=0) == []


def test_more_tokens_than_frames_are_spread():
    assert align(torch.zeros(4, 3), [1, 1, 1, 1], blank_id=0) == [0, 1, 2, 3]
    assert align(torch.zeros(2, 3), [1, 2, 1, 2], blank_id=0) == [0, 0, 1, 1]


def test_impossible_tokens_are_spread():
    log_probs = torch.tensor([[0.0, -1.0, -math.inf]] * 6)
    assert align(log_probs, [1, 2, 1], blank_id=0) == [0, 2, 4]
