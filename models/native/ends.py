"""The stem before an encoder's blocks and the CTC heads behind them, natively."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from earshot.models import _native
from earshot.models.layers.subsampling import Conv1dStem
from earshot.models.layers.whisper_stem import WhisperStem
from earshot.models.native.precision import Precision
from earshot.models.native.weights import linear_weights, processors, rows_weights
from earshot.native.dlpack import dlpack_capsule


class NativeConv1dStem:
    """A stem whose weights were copied; a lane has the same bits in any company."""

    def __init__(
        self,
        stem: Conv1dStem | WhisperStem,
        processor: str | None = None,
        precision: Precision = "float32",
    ) -> None:
        self._pads = whisper = isinstance(stem, WhisperStem)
        convolutions = [layer for layer in stem.modules() if isinstance(layer, nn.Conv1d)]
        self._shapes = [(layer.kernel_size[0], layer.stride[0]) for layer in convolutions]
        self._size = convolutions[-1].out_channels
        self._stem = _native.Conv1dStem(
            convolutions=[_convolution(layer, precision) for layer in convolutions],
            activation=_native.Activation.gelu if whisper else _native.Activation.relu,
            out=None if isinstance(stem, WhisperStem) else linear_weights(stem.linear, precision),
            processor=processor or processors()[0],
        )

    def __call__(self, features: Tensor, begins: Tensor | None = None) -> Tensor:
        """(B, W, F) features to (B, T, D); of Whisper's stem see `WhisperStem`."""
        lanes, frames = features.shape[:2]
        for kernel, stride in self._shapes:
            frames = (frames - kernel) // stride + 1
        embedded = torch.empty(lanes, frames, self._size)
        self._stem.run(
            dlpack_capsule(features.contiguous()),
            dlpack_capsule(begins.long()) if self._pads and begins is not None else None,
            dlpack_capsule(embedded),
            torch.get_num_threads(),
        )
        return embedded


def _convolution(layer: nn.Conv1d, precision: Precision) -> _native.TimeConvolutionWeights:
    weight = layer.weight.transpose(1, 2).flatten(1)  # a window's frames, oldest first
    rows = rows_weights(weight, layer.bias, precision)
    return _native.TimeConvolutionWeights(rows, layer.kernel_size[0], layer.stride[0])


class NativeCtcHead:
    """A linear layer and a log-softmax, whose weights were copied, over frames of their own.

    rate: frames of V symbols that a frame of the encoder becomes.
    """

    def __init__(
        self,
        layer: nn.Linear,
        rate: int = 1,
        processor: str | None = None,
        precision: Precision = "float32",
    ) -> None:
        self._rate = rate
        self._symbols = layer.out_features // rate
        self._head = _native.CtcHead(
            layer=linear_weights(layer, precision),
            rate=rate,
            processor=processor or processors()[0],
        )

    def __call__(self, encoded: Tensor) -> Tensor:
        """(…, T, D) encoder frames to log-probabilities (…, T * rate, V), float32."""
        rows = encoded.flatten(0, -2).contiguous()
        log_probs = torch.empty(len(rows), self._rate, self._symbols)
        self._head.run(dlpack_capsule(rows), dlpack_capsule(log_probs), torch.get_num_threads())
        frames = encoded.size(-2) * self._rate
        return log_probs.view(*encoded.shape[:-2], frames, self._symbols)
