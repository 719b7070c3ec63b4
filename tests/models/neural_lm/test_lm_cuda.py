"""On a GPU sentences are as likely as on the CPU, and a network learns there."""

import copy

import pytest
import torch
from torch.nn import functional

from earshot.models.neural_lm.sentence_scorer import SentenceScorer

pytestmark = pytest.mark.gpu
LISTS = [[["the", "cat", "sat"], ["the", "cat"], []], [["a", "dog"], ["a", "dog's", "mat"]]]


def test_scores(network, tokenizer):
    here = SentenceScorer(network, tokenizer).score(LISTS)
    there = SentenceScorer(copy.deepcopy(network).to("cuda"), tokenizer).score(LISTS)
    for one, other in zip(here, there, strict=True):
        for expected, found in zip(one, other, strict=True):
            assert found.words == pytest.approx(expected.words, abs=1e-3)
            assert found.end == pytest.approx(expected.end, abs=1e-3)


def test_training_step(network):
    network = network.to("cuda").train()
    tokens = torch.randint(0, 24, (2, 9), device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        logits = network(tokens[:, :-1])
    functional.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten()).backward()
    assert all(torch.isfinite(weight.grad).all() for weight in network.parameters())
