import math

import torch

from earshot.models.layers.attention import MASKED, PositionalKeyAttention
from earshot.models.layers.positional import positional_encoding


def wenets_attention(module: PositionalKeyAttention, x, mask, positions):
    """The formula as WeNet computes it, without our rearrangement."""
    query, (keys, values) = module.project_query(x), module.project_memory(x)
    places = module.split_heads(module.linear_pos(positions))
    content = (query + module.pos_bias_u[:, None]) @ keys.transpose(-1, -2)
    place = (query + module.pos_bias_v[:, None]) @ places.transpose(-1, -2)
    scores = (content + place) / math.sqrt(module.head_size)
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
    return module.linear_out((weights @ values).transpose(1, 2).flatten(2))


@torch.no_grad()
def test_positional_keys_are_wenets_attention_rearranged():
    torch.manual_seed(0)
    module = PositionalKeyAttention(heads=4, size=32, dropout=0.0).eval()
    x, positions = torch.randn(3, 9, 32), positional_encoding(torch.arange(9)[None], 32)
    mask = torch.rand(3, 1, 9, 9) < 0.7
    mask |= torch.eye(9, dtype=torch.bool)
    expected = wenets_attention(module, x, mask, positions)
    torch.testing.assert_close(module(x, x, mask, positions), expected, rtol=0, atol=1e-6)


def test_a_masked_key_has_no_weight_in_any_precision():
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        weights = torch.tensor([0.0, MASKED], dtype=dtype).softmax(-1)
        assert weights.tolist() == [1.0, 0.0]


def test_gradients_reach_every_weight():
    torch.manual_seed(0)
    module = PositionalKeyAttention(heads=2, size=8, dropout=0.1).train()
    x, positions = torch.randn(2, 5, 8), positional_encoding(torch.arange(5)[None], 8)
    mask = torch.ones(1, 1, 5, 5, dtype=torch.bool).tril()
    module(x, x, mask, positions).square().sum().backward()
    for name, weight in module.named_parameters():
        assert weight.grad is not None, name
        if name != "linear_k.bias":  # shifts all of a query's scores alike, but for u
            assert float(weight.grad.abs().sum()) > 0.0, name
