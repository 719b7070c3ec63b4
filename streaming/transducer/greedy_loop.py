"""Where a transducer's head is walked greedily: on the CPU, or on the GPU that its model is on."""

from __future__ import annotations

from typing import TypeAlias

import torch

from earshot.decoder_kernels.transducer.device_loop import DeviceLabelLoop
from earshot.decoder_kernels.transducer.device_loop_config import DeviceLoopConfig, LoopMode
from earshot.decoder_kernels.transducer.label_loop import LabelLoop
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.boosting.boost_capacity import boost_capacity
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.transducer.native_loop import loop_weights_of

GreedyLoop: TypeAlias = LabelLoop | DeviceLabelLoop

USUAL_MODE = LoopMode.KERNEL
"""On a GPU, where nobody says."""


def device_loop_of(head: Transducer, config: EngineConfig) -> DeviceLabelLoop | None:
    """The loop on the head's GPU; None where the CPU walks, as asked or for want of a GPU.

    Raises InvalidEngineConfig for a GPU's loop on a CPU, BackendMissing where kernels for the
    device were not built, DeviceError for what its driver refuses.
    """
    device = head.joint.output.weight.device
    mode = _mode(str(config.options.get("transducer_loop", "auto")), device)
    if mode is None:
        return None
    room = DeviceLoopConfig(config.max_batch, mode=mode)
    slots, states = config.max_streams, boost_capacity(config)
    return DeviceLabelLoop(loop_weights_of(head), device, room, slots, states)


def _mode(choice: str, device: torch.device) -> LoopMode | None:
    on_cpu = device.type == "cpu"
    if choice == "auto":
        return None if on_cpu else USUAL_MODE
    if choice == "cpu":
        return None
    if on_cpu:
        raise InvalidEngineConfig(f"transducer_loop is {choice}: the model is on no GPU")
    return LoopMode(choice)
