"""The best paths through CTC's log-probabilities are those of all paths, for each first labels."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.models import _native
from earshot.models.layers.ctc import collapse
from earshot.native.dlpack import dlpack_capsule

BLANK = 1


def scored(log_probs: torch.Tensor, labels: list[int]) -> list[float]:
    scores = torch.empty(len(labels) + 1)
    numbers = torch.tensor(labels, dtype=torch.int64)
    arrays = (dlpack_capsule(log_probs), dlpack_capsule(numbers))
    _native.score_prefixes(*arrays, BLANK, dlpack_capsule(scores))
    return scores.tolist()


def by_all_paths(log_probs: torch.Tensor, labels: list[int]) -> list[float]:
    best = [-torch.inf] * (len(labels) + 1)
    for path in itertools.product(range(log_probs.size(1)), repeat=len(log_probs)):
        spelled = collapse(list(path), BLANK)
        if list(spelled) == labels[: len(spelled)]:
            total = float(log_probs[range(len(path)), list(path)].sum())
            best[len(spelled)] = max(best[len(spelled)], total)
    return best


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 5), st.lists(st.sampled_from([0, 2]), max_size=5), st.integers(0, 99))
def test_each_number_of_labels_has_the_score_of_its_best_path(frames, labels, seed):
    torch.manual_seed(seed)
    log_probs = torch.randn(frames, 3).log_softmax(-1)
    assert scored(log_probs, labels) == pytest.approx(by_all_paths(log_probs, labels), abs=1e-5)
