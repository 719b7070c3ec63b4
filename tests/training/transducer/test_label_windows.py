"""Where a CTC head expects labels."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from earshot.training.transducer.alignment_sum import EdgeKind, alignment_log_sums
from earshot.training.transducer.label_windows import expected_labels, label_windows

SPOKEN = {3: 1, 6: 2, 7: 2, 12: 3}
"""Labels by the frames that say them; the second one lasts."""

TOKENS = torch.tensor([[1, 2, 3], [2, 0, 0]])
LENGTHS, COUNTS = torch.tensor([16, 9]), torch.tensor([3, 1])


def sure_log_probs() -> Tensor:
    logits = torch.zeros(2, 16, 4)
    for frame in range(16):
        logits[0, frame, SPOKEN.get(frame, 0)] = 12.0
        logits[1, frame, 2 if frame == 4 else 0] = 12.0
    return logits.log_softmax(dim=-1)


def test_labels_are_expected_behind_the_frames_that_say_them() -> None:
    found = expected_labels(sure_log_probs(), LENGTHS, TOKENS, COUNTS, blank_id=0)
    expected = [0] * 4 + [1] * 3 + [1.5] + [2] * 5 + [3] * 3
    torch.testing.assert_close(found[0], torch.tensor(expected), rtol=0, atol=1e-2)
    torch.testing.assert_close(found[1, :9], torch.tensor([0.0] * 5 + [1.0] * 4), rtol=0, atol=1e-2)


def test_windows_begin_with_none_and_end_with_all() -> None:
    found = label_windows(sure_log_probs(), LENGTHS, TOKENS, COUNTS, blank_id=0, width=3)
    assert found.shape == (2, 16, 3)
    assert found[0, 0].tolist() == [0, 1, 2]
    assert found[0, -1].tolist() == [1, 2, 3]
    assert found[1, 8].tolist() == [0, 1, 2]


def test_windows_are_no_wider_than_the_labels() -> None:
    found = label_windows(sure_log_probs(), LENGTHS, TOKENS, COUNTS, blank_id=0, width=9)
    assert found.tolist() == torch.arange(4).expand(2, 16, 4).tolist()


@pytest.mark.parametrize("width", [3, 4, 12])
def test_windows_leave_a_path_whatever_ctc_hears(width: int) -> None:
    """Of RNN-T, whose frames say any number of labels."""
    torch.manual_seed(width)
    kinds = EdgeKind(1, 0), EdgeKind(0, 1)
    for _ in range(60):
        frames, labels = torch.randint(1, 30, (2,)).tolist()
        log_probs = (4 * torch.randn(1, frames, 6)).log_softmax(dim=-1)
        tokens = torch.randint(1, 6, (1, min(labels, frames)))
        lengths, counts = torch.tensor([frames]), torch.tensor([tokens.size(1)])
        windows = label_windows(log_probs, lengths, tokens, counts, 0, width)
        assert (windows[0, 0, 0], windows[0, -1, -1]) == (0, tokens.size(1))
        edges = torch.full((2, 1, frames, tokens.size(1) + 1), -math.inf)
        edges.scatter_(3, windows.expand(2, -1, -1, -1), 0.0)
        assert bool(alignment_log_sums(edges, kinds, lengths, counts).isfinite())


def test_more_labels_than_frames_have_the_first_windows() -> None:
    tokens = torch.ones(1, 20, dtype=torch.int64)
    lengths, counts = torch.tensor([16]), torch.tensor([20])
    found = label_windows(sure_log_probs()[:1], lengths, tokens, counts, 0, width=4)
    assert found.tolist() == [[[0, 1, 2, 3]] * 16]


def test_no_labels_have_one_window() -> None:
    tokens, counts = torch.zeros(1, 0, dtype=torch.int64), torch.tensor([0])
    found = label_windows(sure_log_probs()[:1], torch.tensor([16]), tokens, counts, 0, width=4)
    assert found.tolist() == [[[0]] * 16]
