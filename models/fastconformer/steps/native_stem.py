"""The stem of a FastConformer on a CPU: `csrc/encoders/conv2d_stem.h` from its modules."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from earshot.models import _native
from earshot.models.fastconformer.config import Subsampling
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.native.precision import Precision
from earshot.models.native.weights import floats, processors, rows_weights
from earshot.native.dlpack import dlpack_capsule


class NativeConv2dStem:
    """A stem whose weights were copied; a lane has the same bits in any company.

    precision: of all layers but the first, whose inputs are nine features.
    """

    def __init__(
        self,
        encoder: FastConformerEncoder,
        processor: str | None = None,
        precision: Precision = "float32",
    ) -> None:
        own = self._own = encoder.pre_encode
        self._size = encoder.config.size
        before, after = own.padding
        scale = math.sqrt(self._size) if encoder.config.scale_input else 1.0
        channels = encoder.config.stem_channels
        # Channel by channel with all its bins in torch, bin by bin with all its channels here.
        weight = own.out.weight.view(self._size, channels, -1).transpose(1, 2).flatten(1)
        self._stem = _native.Conv2dStem(
            bins=encoder.config.features_size,
            before=before,
            after=after,
            stages=_stages(own.conv, encoder.config.subsampling, precision),
            out=rows_weights(scale * weight, scale * own.out.bias, precision),
            processor=processor or processors()[0],
        )

    def __call__(self, windows: Tensor, firsts: Tensor, lengths: Tensor, wanted: Tensor) -> Tensor:
        """Windows (B, W, F) to the layers' input (B, T', D), zeros behind the frames `wanted` (B,).

        firsts, lengths: see `ConvSubsampling.of_windows`.
        """
        frames = int(wanted.max())
        if frames > 0 and windows.size(1) < self._own.window_size(frames):
            raise ValueError(f"a window of {windows.size(1)} is too short for {frames} frames")
        embedded = torch.zeros(len(windows), frames, self._size)
        self._stem.run(
            dlpack_capsule(windows.contiguous()),
            dlpack_capsule(firsts),
            dlpack_capsule(lengths),
            dlpack_capsule(wanted),
            dlpack_capsule(embedded),
            torch.get_num_threads(),
        )
        return embedded


def _stages(
    layers: nn.Sequential, subsampling: Subsampling, precision: Precision
) -> list[_native.PlaneStageWeights]:
    first, *others = [layer for layer in layers if isinstance(layer, nn.Conv2d)]
    stages = [_native.PlaneStageWeights(None, _plane_layer(first, "float32"))]
    if subsampling == "striding":
        full = [_plane_layer(layer, precision) for layer in others]
        return stages + [_native.PlaneStageWeights(None, layer) for layer in full]
    return stages + [
        _native.PlaneStageWeights(_depthwise(depthwise), _plane_layer(pointwise, precision))
        for depthwise, pointwise in zip(others[::2], others[1::2], strict=True)
    ]


def _depthwise(layer: nn.Conv2d) -> _native.DepthwiseWeights:
    assert layer.bias is not None
    return _native.DepthwiseWeights(floats(layer.weight.flatten(1).t()), floats(layer.bias))


def _plane_layer(layer: nn.Conv2d, precision: Precision) -> _native.LinearWeights:
    """Weights of a convolution over places, for each of which the channels lie side by side."""
    weight = layer.weight.permute(0, 2, 3, 1).flatten(1)
    return rows_weights(weight, layer.bias, precision)
