"""The part of the kernels for GPUs that is label looping; the CPU's half has none of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

import torch

from earshot.decoder_kernels.errors import BackendMissing
from earshot.decoder_kernels.native import native_half

if TYPE_CHECKING:
    from earshot.decoder_kernels.native import kernels


class LoopHalf(Protocol):
    """Label looping on one kind of GPU.

    LENGTH to FINITE: rows of a lane's integers, of LANE_NUMBERS. LOOP_WORDS: that a grid
    shares. loop_threads: of a block, where a config does not say.
    """

    LENGTH: int
    FRAME: int
    BOOST_STATE: int
    BOOST_ROW: int
    BOOST_STATES: int
    FOUND: int
    FINITE: int
    LANE_NUMBERS: int
    LOOP_WORDS: int
    loop_threads: int
    LoopWeights: type[kernels.cuda.LoopWeights]
    LoopLanes: type[kernels.cuda.LoopLanes]
    LabelLooping: type[kernels.cuda.LabelLooping]


def loop_half(device: torch.device) -> LoopHalf:
    """The kernels for tensors on this device. Raises BackendMissing where there are none."""
    half = native_half(device)
    if not hasattr(half, "LabelLooping"):
        raise BackendMissing(f"label looping by kernels is for GPUs: {device.type!r} has LabelLoop")
    return cast(LoopHalf, half)
