"""Differences between frames."""

from __future__ import annotations

import pytest
import torch

from earshot.training.distil.distil_loss import mean_square, pooled


def test_two_frames_become_their_mean_and_a_last_one_is_left_out() -> None:
    frames = torch.arange(10.0).view(1, 5, 2)
    means, lengths = pooled(frames, torch.tensor([5]), 2)
    assert means.tolist() == [[[1.0, 2.0], [5.0, 6.0]]]
    assert lengths.tolist() == [2]


def test_at_the_same_rate_frames_stay_as_they_are() -> None:
    frames, lengths = torch.randn(2, 3, 4), torch.tensor([3, 2])
    assert pooled(frames, lengths, 1) == (frames, lengths)


def test_only_frames_of_both_count() -> None:
    teacher = torch.zeros(2, 3, 2)
    student = torch.ones(2, 5, 2)
    student[1, 1:] = 100.0  # beyond the second row's one frame
    student[0, 3:] = 100.0  # beyond the teacher's
    assert float(mean_square(student, teacher, torch.tensor([3, 1]))) == pytest.approx(1.0)


def test_no_frame_at_all_is_no_difference() -> None:
    student, teacher = torch.ones(1, 2, 2), torch.zeros(1, 2, 2)
    assert float(mean_square(student, teacher, torch.tensor([0]))) == 0.0
