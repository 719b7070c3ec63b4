"""One loop of the shape of label looping in three ways, which find the same labels, bit for bit."""

import ctypes
import random
from dataclasses import dataclass

import pytest
import torch
from emulator import Emulator, Settings

pytestmark = pytest.mark.emulated

BY_LAUNCHES, BY_GRAPH, IN_ONE_LAUNCH = range(3)
WAYS = {"launches": BY_LAUNCHES, "graph": BY_GRAPH, "one launch": IN_ONE_LAUNCH}
LABELS, MOST_IN_FRAME = 7, 3
MASK = 0xFFFFFFFF
HOSTILE = [Settings(seed=seed, mean_slice=5, blocks_together=3, delays_stores=True)
           for seed in (1, 2, 3)]  # fmt: skip


class _Loop(ctypes.Structure):
    """As in ``probes/label_loop.h``."""

    _fields_ = (
        *((name, ctypes.c_int) for name in ("lanes", "frames", "labels", "room")),
        *((name, ctypes.c_void_p) for name in ("encoded", "lengths", "hashes", "frame")),
        *((name, ctypes.c_void_p) for name in ("in_frame", "searching", "found", "best", "said")),
        ("more", ctypes.c_void_p),
        *((name, ctypes.c_uint64) for name in ("looks", "goes_on")),
    )


@dataclass(frozen=True)
class Lanes:
    """encoded: of each lane, a number for each of its frames."""

    encoded: list[list[int]]

    @staticmethod
    def drawn(seed: int, lanes: int, most_frames: int) -> "Lanes":
        chance = random.Random(seed)
        return Lanes(
            [
                [chance.randrange(1 << 20) for _ in range(chance.randrange(most_frames + 1))]
                for _ in range(lanes)
            ]
        )

    @property
    def frames(self) -> int:
        return max(1, *map(len, self.encoded))


def mixed(value: int) -> int:
    value ^= value >> 16
    value = value * 0x7FEB352D & MASK
    return value ^ value >> 15


def labels_of(frames: list[int]) -> list[int]:
    """What one lane says, one step after the other."""
    said: list[int] = []
    hashed = frame = in_frame = 0
    while frame < len(frames):
        scores = [
            ((mixed(frames[frame] * 31 + hashed * 17 + label & MASK) >> 8)
             + (0x400000 if label == 0 else 0) << 8 & MASK) + label
            for label in range(LABELS)
        ]  # fmt: skip
        label = max(scores) % 256
        if label == 0:
            frame, in_frame = frame + 1, 0
            continue
        said.append(label)
        hashed = hashed * 31 + label & MASK
        in_frame += 1
        if in_frame == MOST_IN_FRAME:
            frame, in_frame = frame + 1, 0
    return said


def run(emulator: Emulator, lanes: Lanes, way: int, blocks: int, threads: int) -> list[list[int]]:
    """What each lane says. Raises RuntimeError with the device's code."""
    count, frames = len(lanes.encoded), lanes.frames
    room = MOST_IN_FRAME * frames
    rows = [row + [0] * (frames - len(row)) for row in lanes.encoded]
    there = {
        "encoded": torch.tensor(rows, dtype=torch.int32),
        "lengths": torch.tensor([len(row) for row in lanes.encoded], dtype=torch.int32),
        "said": torch.zeros(count, room, dtype=torch.int32),
        "more": torch.zeros(3, dtype=torch.int32),
    }
    for name in ("hashes", "frame", "in_frame", "searching", "found", "best"):
        there[name] = torch.zeros(count, dtype=torch.int32)
    there = {name: tensor.to(emulator.device) for name, tensor in there.items()}
    loop = _Loop(count, frames, LABELS, room, **{n: t.data_ptr() for n, t in there.items()})
    code = emulator.library.emulator_label_loop(ctypes.byref(loop), way, blocks, threads)
    if code:
        raise RuntimeError(code, emulator.library.emulator_probe_error(code).decode())
    found, said = there["found"].tolist(), there["said"].tolist()
    return [row[:size] for row, size in zip(said, found, strict=True)]


@pytest.mark.parametrize("settings", [Settings(), *HOSTILE])
@pytest.mark.parametrize(("blocks", "threads"), [(1, 1), (1, 32), (3, 16), (5, 128)])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_finds_what_one_lane_at_a_time_does(
    emulator: Emulator, way: str, blocks: int, threads: int, settings: Settings
) -> None:
    emulator.restart(settings)
    lanes = Lanes.drawn(settings.seed, lanes=6, most_frames=5)
    found = run(emulator, lanes, WAYS[way], blocks, threads)
    assert found == [labels_of(row) for row in lanes.encoded]
    assert any(found)


@pytest.mark.parametrize("encoded", [[[]], [[], [7, 8, 9], []]])
@pytest.mark.parametrize("way", WAYS)
def test_lanes_without_frames_say_nothing(
    emulator: Emulator, way: str, encoded: list[list[int]]
) -> None:
    lanes = Lanes(encoded)
    assert run(emulator, lanes, WAYS[way], 2, 32) == [labels_of(row) for row in encoded]


def test_what_the_host_launches_is_one_graph_or_one_grid(emulator: Emulator) -> None:
    lanes = Lanes.drawn(1, lanes=6, most_frames=5)
    counted = {}
    for name, way in WAYS.items():
        emulator.restart()
        run(emulator, lanes, way, 2, 32)
        counted[name] = (emulator.host_launches, emulator.graph_launches, emulator.launches)
    assert counted["one launch"] == (1, 0, 1)
    assert counted["graph"] == (0, 1, counted["launches"][0])
    assert counted["launches"][0] > 10


CALLS = {
    "cudaStreamCreateWithFlags": 4,
    "cudaGraphCreate": 1,
    "cudaGraphConditionalHandleCreate": 2,
    "cudaStreamBeginCaptureToGraph": 3,
    "cudaLaunchKernel": 4,
    "cudaStreamGetCaptureInfo": 2,
    "cudaGraphAddNode": 2,
    "cudaStreamUpdateCaptureDependencies": 2,
    "cudaStreamEndCapture": 3,
    "cudaGraphInstantiate": 1,
    "cudaGraphLaunch": 1,
    "cudaStreamSynchronize": 1,
    "cudaGraphExecDestroy": 1,
    "cudaGraphDestroy": 1,
    "cudaStreamDestroy": 4,
}
"""How often each is called for one graph."""


@pytest.mark.parametrize("after", range(5))
@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_fails_is_the_hosts_error(emulator: Emulator, call: str, after: int) -> None:
    lanes = Lanes.drawn(1, lanes=3, most_frames=3)
    emulator.fail_call(call, 98, after=after)
    if after < CALLS[call]:
        with pytest.raises(RuntimeError) as error:
            run(emulator, lanes, BY_GRAPH, 2, 32)
        assert error.value.args[0] == 98
    else:
        assert run(emulator, lanes, BY_GRAPH, 2, 32) == [labels_of(row) for row in lanes.encoded]
