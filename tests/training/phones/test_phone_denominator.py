"""The sum over all phone sequences, against a plain sum over all paths."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from earshot.training.phones.phone_denominator import PhoneDenominator
from earshot.training.phones.phone_trigrams import phone_trigrams

PHONES = 4  # and among them number 0, blank and boundary


def sum_over_paths(log_probs: Tensor, trigrams: np.ndarray) -> Tensor:
    """Of one utterance `(T, N)`: what each path says, and how likely its phones are."""
    scores = []
    for path in itertools.product(range(log_probs.size(1)), repeat=len(log_probs)):
        phones = [phone for phone, _ in itertools.groupby(path) if phone]
        padded = [0, 0, *phones, 0]
        prior = sum(
            math.log(trigrams[tuple(padded[place : place + 3])]) for place in range(len(padded) - 2)
        )
        scores.append(sum(log_probs[frame, phone] for frame, phone in enumerate(path)) + prior)
    return torch.logsumexp(torch.stack(scores), 0)


def random_trigrams(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return phone_trigrams([rng.integers(1, PHONES, 5).tolist() for _ in range(4)], PHONES)


@given(st.integers(0, 1000), st.lists(st.integers(1, 4), min_size=1, max_size=3))
@settings(max_examples=25, deadline=None)
def test_sum_and_gradient_are_those_over_all_paths(seed: int, lengths: list[int]) -> None:
    trigrams = random_trigrams(seed).astype(np.float64)
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), max(lengths), PHONES)
    log_probs = torch.randn(shape, generator=generator, dtype=torch.float64).log_softmax(-1)
    log_probs.requires_grad_()
    found = PhoneDenominator(torch.from_numpy(trigrams)).log_sum(log_probs, torch.tensor(lengths))
    expected = torch.stack(
        [sum_over_paths(log_probs[row, :length], trigrams) for row, length in enumerate(lengths)]
    )
    torch.testing.assert_close(found, expected)
    weights = torch.arange(1.0, len(lengths) + 1, dtype=torch.float64)
    [ours] = torch.autograd.grad((found * weights).sum(), log_probs)
    [theirs] = torch.autograd.grad((expected * weights).sum(), log_probs)
    torch.testing.assert_close(ours, theirs)


def test_long_utterances_neither_overflow_nor_vanish() -> None:
    denominator = PhoneDenominator(torch.from_numpy(random_trigrams(1)))
    log_probs = torch.randn(1, 2000, PHONES).mul(8.0).log_softmax(-1).requires_grad_()
    total = denominator.log_sum(log_probs, torch.tensor([2000]))
    total.sum().backward()
    assert math.isfinite(total.item())
    assert total.item() < 0.0
    assert log_probs.grad is not None
    torch.testing.assert_close(log_probs.grad.sum(dim=-1), torch.ones(1, 2000))


def test_the_sum_is_exact_under_autocast_too() -> None:
    denominator = PhoneDenominator(torch.from_numpy(random_trigrams(2)))
    log_probs = torch.randn(2, 30, PHONES).log_softmax(-1)
    lengths = torch.tensor([30, 20])
    with torch.autocast("cpu", torch.bfloat16):
        found = denominator.log_sum(log_probs, lengths)
    assert torch.equal(found, denominator.log_sum(log_probs, lengths))


@pytest.mark.parametrize("count", [2, 5])
def test_trigrams_are_distributions_and_nothing_is_impossible(count: int) -> None:
    trigrams = phone_trigrams([[1, 1], [1]], count)
    assert trigrams.shape == (count, count, count)
    np.testing.assert_allclose(trigrams.sum(axis=-1), 1.0, rtol=1e-6)
    assert trigrams.min() > 0.0


def test_trigrams_that_were_seen_are_likelier() -> None:
    trigrams = phone_trigrams([[1, 2, 3], [1, 2, 3], [2, 1]], 4)
    assert trigrams[1, 2].argmax() == 3
    assert trigrams[0, 0, 1] > trigrams[0, 0, 2] > trigrams[0, 0, 3]
    assert trigrams[2, 3].argmax() == 0  # the end


def test_what_lies_beyond_an_utterances_end_is_not_looked_at() -> None:
    denominator = PhoneDenominator(torch.from_numpy(random_trigrams(1)))
    log_probs = torch.randn(2, 6, PHONES).log_softmax(-1)
    log_probs[0, 4:] = torch.nan
    log_probs.requires_grad_()
    total = denominator.log_sum(log_probs, torch.tensor([4, 6]))
    [gradient] = torch.autograd.grad(total.sum(), log_probs)
    assert total.isfinite().all()
    assert gradient.isfinite().all()
    assert not gradient[0, 4:].any()
