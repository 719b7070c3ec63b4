"""One layer of NeMo's encoders."""

from __future__ import annotations

from torch import Tensor, nn

from earshot.models.fastconformer.config import FastConformerConfig
from earshot.models.fastconformer.convolution import Convolution
from earshot.models.fastconformer.feed_forward import FeedForward
from earshot.models.fastconformer.relative_attention import PositionBiases, RelativeAttention


class FastConformerLayer(nn.Module):
    """Half a feed-forward, attention, convolution, half a feed-forward (Gulati 2020, eq. 1).

    Each is added to its input, hears it normalised, and a last norm closes the layer.
    """

    def __init__(self, config: FastConformerConfig, biases: PositionBiases) -> None:
        super().__init__()
        size = config.size
        self.norm_feed_forward1 = nn.LayerNorm(size)
        self.feed_forward1 = FeedForward(config)
        self.norm_self_att = nn.LayerNorm(size)
        self.self_attn = RelativeAttention(config, biases)
        self.norm_conv = nn.LayerNorm(size)
        self.conv = Convolution(config)
        self.norm_feed_forward2 = nn.LayerNorm(size)
        self.feed_forward2 = FeedForward(config)
        self.norm_out = nn.LayerNorm(size)

    def forward(self, x: Tensor, positions: Tensor, seen: Tensor, valid: Tensor) -> Tensor:
        """Whole utterances (B, T, D) to (B, T, D).

        positions: (2 T - 1, D). seen: (B, T, T), whom a frame hears. valid: (B, T).
        """
        x = x + 0.5 * self.feed_forward1(self.norm_feed_forward1(x))
        x = x + self.self_attn(self.norm_self_att(x), positions, seen)
        x = x + self.conv(self.norm_conv(x), valid)
        x = x + 0.5 * self.feed_forward2(self.norm_feed_forward2(x))
        y: Tensor = self.norm_out(x)
        return y
