"""Encoder blocks: pre-norm transformer and conformer."""

from __future__ import annotations

from torch import Tensor, nn

from earshot.models.config import EncoderConfig
from earshot.models.layers.attention import MultiHeadAttention, PositionalKeyAttention
from earshot.models.layers.convolution import ConvolutionModule
from earshot.models.layers.dropout import Dropout
from earshot.models.layers.feed_forward import FeedForward


def build_self_attention(config: EncoderConfig) -> MultiHeadAttention:
    """The attention that goes with the configured positions."""
    kind = PositionalKeyAttention if config.positions == "rel_pos" else MultiHeadAttention
    return kind(config.attention_heads, config.output_size, config.attention_dropout_rate)


def build_feed_forward(config: EncoderConfig) -> FeedForward:
    """A feed-forward branch of the configured width."""
    return FeedForward(
        config.output_size, config.linear_units, config.activation, config.dropout_rate
    )


class EncoderLayer(nn.Module):
    """A block's residual branches, in order: before attention, attention, after attention.

    The three ways to run an encoder (whole utterance, WeNet's chunk, many lanes) differ only in
    how attention and convolution see the past; they share the rest.
    """

    self_attn: MultiHeadAttention
    conv_module: ConvolutionModule | None
    dropout: Dropout

    def before_attention(self, x: Tensor) -> Tensor:
        """Residual stream (B, T, D) as the attention branch finds it."""
        return x

    def attention_input(self, x: Tensor) -> Tensor:
        """Normalised input (B, T, D) of the attention branch."""
        raise NotImplementedError

    def convolution_input(self, x: Tensor) -> Tensor:
        """Normalised input (B, T, D) of the convolution branch; only where `conv_module` is set."""
        raise NotImplementedError

    def after_convolution(self, x: Tensor) -> Tensor:
        """Last feed-forward branch and closing norm, (B, T, D)."""
        raise NotImplementedError

    def add(self, x: Tensor, branch: Tensor) -> Tensor:
        """Residual sum (B, T, D) with dropout on the branch."""
        y: Tensor = x + self.dropout(branch)
        return y

    def forward(
        self, x: Tensor, mask: Tensor | None, positions: Tensor | None, valid: Tensor | None
    ) -> Tensor:
        """Whole utterances (B, T, D) under a boolean attention mask (1 or B, 1, 1 or T, T)."""
        x = self.before_attention(x)
        normed = self.attention_input(x)
        x = self.add(x, self.self_attn(normed, normed, mask, positions))
        if self.conv_module is not None:
            x = self.add(x, self.conv_module(self.convolution_input(x), valid))
        return self.after_convolution(x)


class TransformerLayer(EncoderLayer):
    """x += MHA(LN x); x += FFN(LN x)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        size, eps = config.output_size, config.norm_eps
        self.self_attn = build_self_attention(config)
        self.conv_module = None
        self.feed_forward = build_feed_forward(config)
        self.norm1 = nn.LayerNorm(size, eps=eps)
        self.norm2 = nn.LayerNorm(size, eps=eps)
        self.dropout = Dropout(config.dropout_rate)

    def attention_input(self, x: Tensor) -> Tensor:
        """LN x."""
        normed: Tensor = self.norm1(x)
        return normed

    def after_convolution(self, x: Tensor) -> Tensor:
        """The feed-forward branch."""
        return self.add(x, self.feed_forward(self.norm2(x)))


class ConformerLayer(EncoderLayer):
    """x += FFN/2; x += MHA; x += Conv; x += FFN/2; LN (Gulati 2020, eq. 1)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        size, eps = config.output_size, config.norm_eps
        self.self_attn = build_self_attention(config)
        self.feed_forward = build_feed_forward(config)
        self.norm_mha = nn.LayerNorm(size, eps=eps)
        self.norm_ff = nn.LayerNorm(size, eps=eps)
        self.feed_forward_macaron: FeedForward | None = None
        self.ff_scale = 1.0
        if config.macaron_style:
            self.feed_forward_macaron = build_feed_forward(config)
            self.norm_ff_macaron = nn.LayerNorm(size, eps=eps)
            self.ff_scale = 0.5
        self.conv_module = None
        if config.use_cnn_module:
            self.conv_module = ConvolutionModule(config)
            self.norm_conv = nn.LayerNorm(size, eps=eps)
        # WeNet closes the block with a norm only where it has a convolution.
        closes = config.block_norm and config.use_cnn_module
        self.norm_final = nn.LayerNorm(size, eps=eps) if closes else nn.Identity()
        self.dropout = Dropout(config.dropout_rate)

    def before_attention(self, x: Tensor) -> Tensor:
        """The macaron's first half, if there is one."""
        if self.feed_forward_macaron is None:
            return x
        return self.add(x, self.ff_scale * self.feed_forward_macaron(self.norm_ff_macaron(x)))

    def attention_input(self, x: Tensor) -> Tensor:
        """LN x."""
        normed: Tensor = self.norm_mha(x)
        return normed

    def convolution_input(self, x: Tensor) -> Tensor:
        """LN x."""
        normed: Tensor = self.norm_conv(x)
        return normed

    def after_convolution(self, x: Tensor) -> Tensor:
        """The (second) feed-forward branch and the block's closing norm."""
        x = self.add(x, self.ff_scale * self.feed_forward(self.norm_ff(x)))
        closed: Tensor = self.norm_final(x)
        return closed


def build_layer(config: EncoderConfig) -> EncoderLayer:
    """A block of the configured kind."""
    return ConformerLayer(config) if config.kind == "conformer" else TransformerLayer(config)
