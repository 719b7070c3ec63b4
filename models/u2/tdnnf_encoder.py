"""A factored time-delay network as an encoder: frames of 30 ms that see some 0.3 s to both sides.

What a frame hears does not depend on the chunk it came in: streaming gives what whole recordings
give. Every layer runs one frame late, so that nothing is computed twice (`layers/tdnnf.py`); a
stream catches up with that delay in its first chunk.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.layers.cmvn import GlobalCmvn
from earshot.models.layers.subsampling import StemShape
from earshot.models.layers.tdnnf import BATCH_NORM_EPS, FactoredLayer
from earshot.models.tdnnf_config import TdnnfConfig
from earshot.models.u2.lanes import EncoderState, LaneContext, LaneUpdate
from earshot.models.u2.streaming_encoder import StreamingEncoder

SLOW_RATE = 3
LARGEST = 3.0  # of normalised features: digital silence lies far below all speech
SPLICED = 3  # feature frames that the first layer sees: the one before, its own, the one after


class TdnnfEncoder(StreamingEncoder):
    """Splice of three feature frames, layers at 10 ms, layers at 30 ms, a narrow output.

    Its part of `EncoderState` is `cnn_cache` (B, 1 + layers, 1, W): what each layer keeps of its
    last frame; `att_cache` has no layers.
    """

    def __init__(self, config: TdnnfConfig) -> None:
        super().__init__()
        self.config = config
        self.stem_shape = tdnnf_shape(config)
        self.output_size = config.output_size
        self.global_cmvn = GlobalCmvn(config.input_dim)
        self.splice = nn.Linear(SPLICED * config.input_dim, config.hidden_size)
        self.splice_norm = nn.BatchNorm1d(config.hidden_size, eps=BATCH_NORM_EPS, affine=False)
        # The last of the fast layers is the one that puts out slow frames.
        rates = [1] * (config.fast_layers - 1) + [SLOW_RATE] + [1] * config.slow_layers
        self.factored = nn.ModuleList(_layer(config, every) for every in rates)
        self.narrow = nn.Linear(config.hidden_size, config.output_size, bias=False)
        self.after_norm = nn.BatchNorm1d(config.output_size, eps=BATCH_NORM_EPS, affine=False)

    def forward(
        self, feats: Tensor, lengths: Tensor, chunk_size: int = -1, num_left_chunks: int = -1
    ) -> tuple[Tensor, Tensor]:
        """Whole utterances (B, T, F), padded on the right to lengths (B,).

        Chunks change nothing. Returns (B, T', D) and the valid lengths (B,).
        """
        features = self.global_cmvn(feats).clamp(-LARGEST, LARGEST)
        x = self._spliced(functional.pad(features, (0, 0, 1, 0)))
        for layer in self._layers:
            x = layer.begin(x)
        return self._narrowed(x), self.output_lengths(lengths)

    @torch.no_grad()
    def constrain(self) -> None:
        """Keep every layer's first factor near orthonormal rows; for training."""
        for layer in self._layers:
            layer.constrain()

    def initial_state(
        self, lanes: int, cache_frames: int, device: torch.device | str = "cpu"
    ) -> EncoderState:
        """State of `lanes` streams that have not begun; what it keeps is not `cache_frames`."""
        counts = torch.zeros(lanes, dtype=torch.int64, device=device)
        dtype = self.narrow.weight.dtype
        rows = 1 + len(self.factored)
        return EncoderState(
            offset=counts,
            cache_length=counts.clone(),
            att_cache=torch.zeros(lanes, 0, 1, cache_frames + 1, 1, dtype=dtype, device=device),
            cnn_cache=torch.zeros(lanes, rows, 1, self._cache_size, dtype=dtype, device=device),
        )

    def forward_lanes(
        self, feats: Tensor, out_lengths: Tensor, context: LaneContext
    ) -> tuple[Tensor, LaneUpdate]:
        """One chunk of B streams, each at its own offset: see `StreamingEncoder`.

        The window's first `right_context + 1 - rate` frames were heard in the chunk before; only a
        stream that begins still has to hear them.
        """
        heard = self.right_context + 1 - self.subsampling_rate
        features = self.global_cmvn(feats).clamp(-LARGEST, LARGEST)
        caches = context.cnn_cache.squeeze(2)
        beginning = ((context.offset == 0) & (out_lengths > 0)).nonzero().squeeze(1)
        if beginning.numel():
            caches = caches.index_copy(0, beginning, self._prime(features[beginning, :heard]))
        x, kept = self._step(features[:, heard:], caches, out_lengths)
        update = LaneUpdate(out_lengths, context.att_columns, cnn_cache=kept.unsqueeze(2))
        return self._narrowed(x), update

    @property
    def _cache_size(self) -> int:
        config = self.config
        return max((SPLICED - 1) * config.input_dim, 2 * config.bottleneck + config.hidden_size)

    def _prime(self, features: Tensor) -> Tensor:
        """The caches (B, 1 + layers, W) of streams that have heard just their delay."""
        kept = [features[:, 1 - SPLICED :].flatten(1)]
        x = self._spliced(functional.pad(features, (0, 0, 1, 0)))
        for layer in self._layers:
            x, cache = layer.prime(x)
            kept.append(cache)
        return self._stacked(kept)

    def _step(self, features: Tensor, caches: Tensor, out_lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Frames (B, T, F) after `caches`, to (B, T / rate, D) and the caches after them."""
        rows = torch.arange(len(features), device=features.device)
        past = caches[:, 0, : (SPLICED - 1) * features.size(2)]
        past = past.view(len(features), SPLICED - 1, features.size(2))
        joined = torch.cat((past, features), dim=1)
        moved = SLOW_RATE * out_lengths
        kept = [torch.cat([joined[rows, moved + place] for place in range(SPLICED - 1)], dim=1)]
        x = self._spliced(joined)
        for number, layer in enumerate(self._layers, start=1):
            x, columns = layer.step(x, caches[:, number, : layer.cache_size])
            kept.append(columns[rows, moved])
            moved = moved // layer.every
        return x, self._stacked(kept)

    def _stacked(self, kept: list[Tensor]) -> Tensor:
        width = self._cache_size
        return torch.stack(
            [functional.pad(each, (0, width - each.size(1))) for each in kept], dim=1
        )

    def _spliced(self, features: Tensor) -> Tensor:
        """(B, T, F) to (B, T - 2, D)."""
        count = features.size(1) + 1 - SPLICED
        places = [features[:, place : place + count] for place in range(SPLICED)]
        y = functional.relu(self.splice(torch.cat(places, dim=2)))
        return _normed(self.splice_norm, y)

    def _narrowed(self, x: Tensor) -> Tensor:
        return _normed(self.after_norm, self.narrow(x))

    @property
    def _layers(self) -> list[FactoredLayer]:
        return [layer for layer in self.factored if isinstance(layer, FactoredLayer)]


def tdnnf_shape(config: TdnnfConfig) -> StemShape:
    """How far ahead the layers look along time; what lies behind is zero at the start."""
    before, after = 1 + config.fast_layers, config.slow_layers
    kernels = (2,) * before + (1,) + (2,) * after
    return StemShape(kernels, (1,) * before + (SLOW_RATE,) + (1,) * after)


def _layer(config: TdnnfConfig, every: int) -> FactoredLayer:
    return FactoredLayer(
        config.hidden_size, config.bottleneck, config.bypass_scale, config.dropout_rate, every
    )


def _normed(norm: nn.BatchNorm1d, x: Tensor) -> Tensor:
    normed: Tensor = norm(x.flatten(0, 1)).view_as(x)
    return normed
