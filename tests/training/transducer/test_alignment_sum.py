"""Sums over all alignments of frames and labels."""

from __future__ import annotations

import math
from functools import cache

import pytest
import torch
from torch import Tensor

from earshot.training.transducer.alignment_sum import EdgeKind, alignment_log_sums

RNNT = (EdgeKind(1, 0), EdgeKind(0, 1))
TDT = (EdgeKind(0, 1), EdgeKind(1, 1), EdgeKind(3, 1), EdgeKind(1, 0), EdgeKind(3, 0))
IN_TWOS = (EdgeKind(2, 0), EdgeKind(2, 1))
LENGTHS, LABELS = torch.tensor([6, 4, 5]), torch.tensor([4, 2, 0])


def random_edges(kinds: tuple[EdgeKind, ...]) -> Tensor:
    torch.manual_seed(5)
    return torch.randn(len(kinds), 3, 6, 5, dtype=torch.float64)


def by_recursion(edges: Tensor, kinds: tuple[EdgeKind, ...], frames: int, labels: int) -> float:
    """The same of one utterance `(E, T, U + 1)`, path by path."""

    @cache
    def ahead(frame: int, label: int) -> float:
        if frame == frames:
            return 0.0 if label == labels else -math.inf
        ways = [
            float(edges[place, frame, label]) + ahead(frame + kind.frames, label + kind.labels)
            for place, kind in enumerate(kinds)
            if frame + kind.frames <= frames and label + kind.labels <= labels
        ]
        return float(torch.tensor(ways, dtype=torch.float64).logsumexp(0)) if ways else -math.inf

    return ahead(0, 0)


@pytest.mark.parametrize("kinds", [RNNT, TDT, IN_TWOS])
def test_sum_is_that_of_all_paths(kinds: tuple[EdgeKind, ...]) -> None:
    edges = random_edges(kinds)
    expected = [
        by_recursion(edges[:, row], kinds, int(LENGTHS[row]), int(LABELS[row])) for row in range(3)
    ]
    found = alignment_log_sums(edges, kinds, LENGTHS, LABELS)
    assert found.tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kinds", [RNNT, TDT, IN_TWOS])
def test_gradient_is_that_of_small_differences(kinds: tuple[EdgeKind, ...]) -> None:
    def possible(edges: Tensor) -> Tensor:
        found = alignment_log_sums(edges, kinds, LENGTHS, LABELS)
        return torch.where(found.isfinite(), found, 0.0)

    assert torch.autograd.gradcheck(possible, random_edges(kinds).requires_grad_())


def test_rnnt_loss_that_warp_transducer_publishes() -> None:
    """The case of its own tests: two frames, two labels, five units, blank 0."""
    logits = torch.tensor(
        [
            [[0.1, 0.6, 0.1, 0.1, 0.1], [0.1, 0.1, 0.6, 0.1, 0.1], [0.1, 0.1, 0.2, 0.8, 0.1]],
            [[0.1, 0.6, 0.1, 0.1, 0.1], [0.1, 0.1, 0.2, 0.1, 0.1], [0.7, 0.1, 0.2, 0.1, 0.1]],
        ]
    ).log_softmax(dim=-1)
    said = torch.stack([logits[:, u, label] for u, label in enumerate((1, 2, 0))], dim=1)
    edges = torch.stack((logits[..., 0], said)).unsqueeze(1)
    found = alignment_log_sums(edges, RNNT, torch.tensor([2]), torch.tensor([2]))
    assert float(-found) == pytest.approx(4.495666, abs=1e-6)


def test_what_lies_beyond_an_utterance_is_not_read() -> None:
    edges = random_edges(TDT)
    expected = alignment_log_sums(edges, TDT, LENGTHS, LABELS)
    edges[:, 1, 4:], edges[:, 1, :, 3:], edges[:, 2, 5:] = math.nan, math.nan, math.nan
    assert torch.equal(alignment_log_sums(edges, TDT, LENGTHS, LABELS), expected)


def test_no_path_is_no_probability_and_no_gradient() -> None:
    edges = random_edges(IN_TWOS).requires_grad_()
    found = alignment_log_sums(edges, IN_TWOS, torch.tensor([5, 6, 5]), torch.tensor([1, 4, 0]))
    assert found.tolist() == [-math.inf] * 3
    [gradient] = torch.autograd.grad(found.sum(), edges)
    assert not gradient.any()
