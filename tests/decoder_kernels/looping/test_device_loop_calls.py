"""What a loop on a GPU asks of the device in each mode, and what comes of a call that fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from emulator import Emulator, built
from label_heads import HEADS, expected_of, sound
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from earshot.decoder_kernels.errors import DeviceError
from earshot.decoder_kernels.transducer.device_loop import DeviceLabelLoop
from earshot.decoder_kernels.transducer.device_loop_config import DeviceLoopConfig, LoopMode
from earshot.streaming.transducer.native_loop import loop_weights_of

pytestmark = pytest.mark.emulated

HEAD = HEADS["tdt"]
LAYERS = 2
NOT_PERMITTED = 800


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """The device as new, before and after."""
    device = built()
    assert device is not None
    device.restart()
    with torch.inference_mode():
        yield device
    device.restart()


def loop_on(emulator: Emulator, mode: LoopMode, lanes: int = 4) -> DeviceLabelLoop:
    config = DeviceLoopConfig(max_lanes=lanes, max_frames=6, mode=mode)
    return DeviceLabelLoop(loop_weights_of(HEAD), emulator.device, config)


def tokens_of(loop: DeviceLabelLoop, lanes: int = 3) -> list[list[int]]:
    found = loop([sound(5, seed) for seed in range(lanes)], [loop.begin()] * lanes)
    return [each.tokens for each in found if each is not None]


with torch.inference_mode():
    EXPECTED = [expected_of(HEAD, sound(5, seed)).tokens for seed in range(3)]


def test_one_kernel_is_three_launches_a_chunk(emulator: Emulator) -> None:
    """Its frames, where its lanes begin, and all the rest."""
    loop = loop_on(emulator, LoopMode.KERNEL)
    assert tokens_of(loop) == EXPECTED
    assert (emulator.host_launches, emulator.graph_launches) == (3, 0)


def test_more_lanes_ask_the_device_no_more_often(emulator: Emulator) -> None:
    """A turn's six operations there and five copies: what it takes, who is where, what it found."""
    loop = loop_on(emulator, LoopMode.KERNEL, lanes=12)
    for lanes in (2, 12):
        chunks = [sound(5, seed).to(emulator.device) for seed in range(lanes)]
        with Asked(emulator.device) as asked:
            loop(chunks, [loop.begin()] * lanes)
        assert Counter(asked.names) == {
            "cat": 1, "index_copy_": 1, "stack": 1, "copy_": 2, "split_with_sizes_copy": 1,
            "to": 5,
        }  # fmt: skip


class Asked(TorchDispatchMode):
    """Names of torch's operations that a device has work with: none is who looks or makes room."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self._device = device
        self.names: list[str] = []

    def __torch_dispatch__(self, function: Any, _: Any, given: Any = (), named: Any = None) -> Any:
        found = function(*given, **(named or {}))
        name, asked = function.overloadpacket.__name__, [*tree_leaves((given, named, found))]
        tensors = [each for each in asked if isinstance(each, torch.Tensor)]
        places = {each.untyped_storage().data_ptr() for each in tensors}
        is_work = len(places) > 1 or not (function.is_view or name == "to")
        if (
            is_work
            and "empty" not in name
            and any(each.device.type == self._device.type for each in tensors)
        ):
            self.names.append(name)
        return found


def test_a_graph_is_one_launch_a_chunk_and_nothing_is_captured_while_serving(
    emulator: Emulator,
) -> None:
    loop = loop_on(emulator, LoopMode.FULL_GRAPH)
    for call in ("cudaGraphCreate", "cudaStreamBeginCaptureToGraph", "cudaGraphInstantiate"):
        emulator.fail_call(call, NOT_PERMITTED)
    for lanes in (1, 2, 3):
        assert tokens_of(loop, lanes) == EXPECTED[:lanes]
    assert (emulator.host_launches, emulator.graph_launches) == (0, 3)


def test_single_launches_are_as_many_as_the_turns_need(emulator: Emulator) -> None:
    loop = loop_on(emulator, LoopMode.NO_GRAPHS)
    assert tokens_of(loop) == EXPECTED
    turns = 5 + max(map(len, EXPECTED))
    assert emulator.graph_launches == 0
    assert 3 < emulator.host_launches <= 4 + turns * (4 + LAYERS)


def test_what_a_loop_has_allocated_is_freed_with_it(emulator: Emulator) -> None:
    tokens_of(loop_on(emulator, LoopMode.FULL_GRAPH))
    before = emulator.allocations
    for mode in LoopMode:
        tokens_of(loop_on(emulator, mode))
    assert emulator.allocations == before


CALLS = {
    LoopMode.FULL_GRAPH: (
        "cudaStreamCreateWithFlags",
        "cudaGraphCreate",
        "cudaGraphConditionalHandleCreate",
        "cudaStreamBeginCaptureToGraph",
        "cudaLaunchKernel",
        "cudaStreamGetCaptureInfo",
        "cudaGraphAddNode",
        "cudaStreamUpdateCaptureDependencies",
        "cudaStreamEndCapture",
        "cudaGraphInstantiate",
        "cudaGraphLaunch",
    ),
    LoopMode.KERNEL: (
        "cudaLaunchKernel",
        "cudaGetDevice",
        "cudaDeviceGetAttribute",
        "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        "cudaLaunchCooperativeKernel",
    ),
    LoopMode.NO_GRAPHS: ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize"),
}


@pytest.mark.parametrize(
    ("mode", "call"), [(mode, call) for mode, calls in CALLS.items() for call in calls]
)
def test_a_call_that_fails_is_a_device_error_each_time_and_leaves_nothing_behind(
    emulator: Emulator, mode: LoopMode, call: str
) -> None:
    other = loop_on(emulator, mode, lanes=1)
    assert tokens_of(other, 1) == EXPECTED[:1]
    before, failed = emulator.allocations, 0
    for after in range(1000):
        emulator.fail_call(call, NOT_PERMITTED, after=after)
        try:
            assert tokens_of(loop_on(emulator, mode, lanes=1), 1) == EXPECTED[:1]
        except DeviceError:
            failed += 1
            assert tokens_of(other, 1) == EXPECTED[:1]  # is not blamed for it
        else:
            break
    emulator.library.emulator_recover_calls()
    assert failed == after > 0
    assert tokens_of(loop_on(emulator, mode, lanes=1), 1) == EXPECTED[:1]
    assert emulator.allocations == before
