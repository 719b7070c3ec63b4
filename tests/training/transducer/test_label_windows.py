"""Where a CTC head expects labels."""

from __future__ import annotations

import torch
from torch import Tensor

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
    found = label_windows(sure_log_probs(), LENGTHS, TOKENS, COUNTS, blank_id=0, width=2)
    assert found.shape == (2, 16, 2)
    assert found[0, 0].tolist() == [0, 1]
    assert found[0, -1].tolist() == [2, 3]
    assert found[1, 8].tolist() == [0, 1]


def test_windows_are_no_wider_than_the_labels() -> None:
    found = label_windows(sure_log_probs(), LENGTHS, TOKENS, COUNTS, blank_id=0, width=9)
    assert found.tolist() == torch.arange(4).expand(2, 16, 4).tolist()


def test_too_many_labels_have_windows_all_the_same() -> None:
    tokens = torch.ones(1, 20, dtype=torch.int64)
    found = label_windows(
        sure_log_probs()[:1], torch.tensor([16]), tokens, torch.tensor([20]), 0, width=4
    )
    assert found.min() >= 0
    assert found.max() <= 20
