"""Whisper's forward pass (arXiv:2212.04356, section 2.2) as plain tensors: an oracle for tests."""

from collections.abc import Mapping

from torch import Tensor
from torch.nn import functional as F

from earshot.models.checkpoints.whisper.checkpoint import WhisperCheckpoint

Weights = Mapping[str, Tensor]


def encode(whisper: WhisperCheckpoint, mel: Tensor) -> Tensor:
    """The encoder's output (B, T // 2, D) for log-mel features (B, mels, T)."""
    weights = whisper.tensors
    x = F.gelu(_convolve(weights, "encoder.conv1", mel, stride=1))
    x = F.gelu(_convolve(weights, "encoder.conv2", x, stride=2)).transpose(1, 2)
    x = x + weights["encoder.positional_embedding"][: x.size(1)]
    for block in range(whisper.dims.audio_blocks):
        name = f"encoder.blocks.{block}"
        x = x + _attend(weights, f"{name}.attn", x, None, whisper.dims.audio_heads)
        x = x + _feed_forward(weights, name, x)
    return _normalize(weights, "encoder.ln_post", x)


def decode(whisper: WhisperCheckpoint, encoded: Tensor, tokens: Tensor) -> Tensor:
    """Logits (B, L, V) of what follows each of `tokens` (B, L)."""
    weights, heads = whisper.tensors, whisper.dims.text_heads
    x = F.embedding(tokens, weights["decoder.token_embedding.weight"])
    x = x + weights["decoder.positional_embedding"][: tokens.size(1)]
    for block in range(whisper.dims.text_blocks):
        name = f"decoder.blocks.{block}"
        x = x + _attend(weights, f"{name}.attn", x, None, heads, causal=True)
        x = x + _attend(weights, f"{name}.cross_attn", x, encoded, heads)
        x = x + _feed_forward(weights, name, x)
    return _normalize(weights, "decoder.ln", x) @ weights["decoder.token_embedding.weight"].T


def _attend(
    weights: Weights, name: str, x: Tensor, seen: Tensor | None, heads: int, causal: bool = False
) -> Tensor:
    x = _normalize(weights, f"{name}_ln", x)
    seen = x if seen is None else seen
    sources = {"query": x, "key": seen, "value": seen}
    query, key, value = (
        _project(weights, f"{name}.{role}", source).unflatten(-1, (heads, -1)).transpose(1, 2)
        for role, source in sources.items()
    )
    found = F.scaled_dot_product_attention(query, key, value, is_causal=causal)
    return _project(weights, f"{name}.out", found.transpose(1, 2).flatten(2))


def _feed_forward(weights: Weights, name: str, x: Tensor) -> Tensor:
    hidden = F.gelu(_project(weights, f"{name}.mlp.0", _normalize(weights, f"{name}.mlp_ln", x)))
    return _project(weights, f"{name}.mlp.2", hidden)


def _project(weights: Weights, name: str, x: Tensor) -> Tensor:
    return F.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))


def _normalize(weights: Weights, name: str, x: Tensor) -> Tensor:
    return F.layer_norm(x, (x.size(-1),), weights[f"{name}.weight"], weights[f"{name}.bias"])


def _convolve(weights: Weights, name: str, x: Tensor, stride: int) -> Tensor:
    return F.conv1d(x, weights[f"{name}.weight"], weights[f"{name}.bias"], stride, padding=1)
