"""Greedy decoding of a head in training."""

from __future__ import annotations

import pytest
import torch
from tiny_models import TINY_HEADS

from earshot.models.transducer.transducer import Transducer
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.training.measuring.greedy_labels import greedy_labels


@pytest.mark.parametrize("kind", TINY_HEADS)
def test_labels_are_those_that_a_server_finds(kind: str) -> None:
    torch.manual_seed(2)
    head = Transducer(TINY_HEADS[kind]).eval()
    torch.nn.init.zeros_(head.predictor.embed.weight.data[head.config.blank_id])
    loop = label_loop_of(head)
    found = 0
    for _ in range(20):
        encoded = 3 * torch.randn(30, 16)
        [walked] = loop([encoded], [loop.begin()])
        assert walked is not None
        assert greedy_labels(head, encoded) == walked.tokens
        found += len(walked.tokens)
    assert found > 100
