"""Attention by content and distance, against a loop over queries and keys."""

import math

import pytest
import torch

from earshot.models.fastconformer.config import FastConformerConfig
from earshot.models.fastconformer.positions import relative_positions
from earshot.models.fastconformer.relative_attention import PositionBiases, RelativeAttention
from earshot.models.layers.positional import positional_encoding

SIZE, HEADS, FRAMES = 8, 2, 6


@pytest.fixture
def attention() -> RelativeAttention:
    torch.manual_seed(0)
    config = FastConformerConfig(20, SIZE, 1, HEADS, 8, 4)
    biases = PositionBiases(config)
    with torch.no_grad():
        biases.u.normal_()
        biases.v.normal_()
    return RelativeAttention(config, biases)


def score(attention: RelativeAttention, x: torch.Tensor, query: int, key: int) -> torch.Tensor:
    """Of each head, term by term (Dai 2019, section 3.3)."""
    position = positional_encoding(torch.tensor(query - key), SIZE)
    q = attention.linear_q(x[query]).view(HEADS, -1)
    k = attention.linear_k(x[key]).view(HEADS, -1)
    p = attention.linear_pos(position).view(HEADS, -1)
    u, v = attention.pos_bias_u, attention.pos_bias_v
    return (q * k + u * k + q * p + v * p).sum(-1) / math.sqrt(SIZE // HEADS)


@torch.no_grad()
def test_weights_are_those_of_the_four_terms(attention: RelativeAttention) -> None:
    x = torch.randn(FRAMES, SIZE)
    expected = torch.stack(
        [torch.stack([score(attention, x, i, j) for j in range(FRAMES)]) for i in range(FRAMES)]
    ).softmax(1)
    seen = torch.ones(1, FRAMES, FRAMES, dtype=torch.bool)
    places = attention.project_positions(relative_positions(FRAMES, FRAMES, x))
    keys, _ = attention.project_memory(x[None])
    found = attention.weights(x[None], keys, places, seen)
    torch.testing.assert_close(found[0], expected.permute(2, 0, 1))


@torch.no_grad()
def test_the_last_queries_alone_hear_what_they_hear_among_all(
    attention: RelativeAttention,
) -> None:
    x = torch.randn(2, FRAMES, SIZE)
    seen = torch.ones(2, FRAMES, FRAMES, dtype=torch.bool).tril()
    whole = attention(x, relative_positions(FRAMES, FRAMES, x), seen)
    places = attention.project_positions(relative_positions(2, FRAMES, x))
    last = attention.attend(x[:, -2:], *attention.project_memory(x), places, seen[:, -2:])
    torch.testing.assert_close(last, whole[:, -2:])


@torch.no_grad()
def test_a_key_that_is_not_seen_weighs_nothing(attention: RelativeAttention) -> None:
    x = torch.randn(1, FRAMES, SIZE)
    seen = torch.ones(1, FRAMES, FRAMES, dtype=torch.bool).tril()
    places = attention.project_positions(relative_positions(FRAMES, FRAMES, x))
    found = attention.weights(x, attention.project_memory(x)[0], places, seen)
    assert torch.equal(found.triu(1), torch.zeros_like(found))
    torch.testing.assert_close(found.sum(-1), torch.ones(1, HEADS, FRAMES))


@torch.no_grad()
def test_a_query_that_sees_nothing_hears_zeros(attention: RelativeAttention) -> None:
    x = torch.randn(1, FRAMES, SIZE)
    seen = torch.zeros(1, FRAMES, FRAMES, dtype=torch.bool)
    found = attention(x, relative_positions(FRAMES, FRAMES, x), seen)
    assert torch.equal(found, attention.linear_out(torch.zeros_like(x)))
