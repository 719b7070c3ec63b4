"""The best phones are those of the best path there is."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from earshot.models.layers.ctc import collapse
from earshot.training.phones.phone_search import PhoneSearch


def best_of_all(log_probs: Tensor, trigrams: Tensor) -> list[int]:
    """By trying every path."""
    best, found = -math.inf, []
    for path in itertools.product(range(log_probs.size(1)), repeat=len(log_probs)):
        phones = collapse(path, 0)
        padded = [0, 0, *phones, 0]
        score = sum(float(log_probs[frame, symbol]) for frame, symbol in enumerate(path))
        score += sum(
            math.log(float(trigrams[i, j, k]))
            for i, j, k in zip(padded, padded[1:], padded[2:], strict=False)
        )
        if score > best:
            best, found = score, phones
    return found


@pytest.mark.parametrize("seed", range(8))
def test_it_finds_the_best_path_of_all(seed: int) -> None:
    torch.manual_seed(seed)
    trigrams = torch.softmax(1.5 * torch.randn(3, 3, 3), dim=-1)
    log_probs = torch.log_softmax(1.5 * torch.randn(2, 6, 3), dim=-1)
    found = PhoneSearch(trigrams).best(log_probs, torch.tensor([6, 4]))
    assert found == [best_of_all(log_probs[0], trigrams), best_of_all(log_probs[1, :4], trigrams)]


def test_a_phone_twice_needs_a_silence_between() -> None:
    trigrams = torch.full((2, 2, 2), 0.5)
    aloud, silent = torch.tensor([0.1, 0.9]).log(), torch.tensor([0.9, 0.1]).log()
    search, lengths = PhoneSearch(trigrams), torch.tensor([3])
    assert search.best(torch.stack([aloud, aloud, aloud])[None], lengths) == [[1]]
    assert search.best(torch.stack([aloud, silent, aloud])[None], lengths) == [[1, 1]]


def test_what_the_language_model_thinks_unlikely_needs_a_clear_voice() -> None:
    trigrams = torch.tensor([0.499, 0.5, 0.001]).expand(3, 3, 3).contiguous()
    faint = torch.tensor([0.1, 0.35, 0.55]).log()[None, None]
    clear = torch.tensor([0.0001, 0.0001, 0.9998]).log()[None, None]
    search, lengths = PhoneSearch(trigrams), torch.tensor([1])
    assert search.best(faint, lengths) == [[1]]
    assert search.best(clear, lengths) == [[2]]
