"""What label looping asks of a GPU, counted on the emulated device: nothing here is a time.

    PYTHONPATH=tests/cuda_emulator:. python -m benchmarks.cuda.label_loop_counts build/cuda_emulator

A head of 114 million's shape with random weights and a real rate of labels walks over one chunk of
1.12 s (14 frames) of some lanes, in each mode and order.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from emulator import Emulator, Settings, load

from benchmarks.report import table
from benchmarks.transducer.speaking_heads import HeadShape, speaking_head
from earshot.decoder_kernels.transducer.device_loop import DeviceLabelLoop
from earshot.decoder_kernels.transducer.device_loop_config import (
    DeviceLoopConfig,
    LoopMode,
    LoopOrder,
)
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.transducer.native_loop import loop_weights_of

FRAMES, RATE_HZ = 14, 12.5
SHAPE = HeadShape("114 M", 512, 1)
DURATIONS = {"RNN-T": (), "TDT": (0, 1, 2, 3, 4)}


HEADER = (
    "head", "lanes", "order", "mode", "labels", "calls", "kernels", "grid barriers", "critical",
    "MB",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One chunk of all lanes.

    calls: of the host, to launch something. grid_barriers: that all blocks wait at. megabytes: read
    and written in the device's memory, as threads ask for them.
    """

    head: str
    lanes: int
    order: str
    mode: str
    labels: int
    calls: int
    kernels: int
    grid_barriers: int
    critical_instructions: int
    megabytes: float

    def __str__(self) -> str:
        return (
            f"| {self.head} | {self.lanes} | {self.order} | {self.mode} | {self.labels} "
            f"| {self.calls} | {self.kernels} | {self.grid_barriers} "
            f"| {self.critical_instructions:,} | {self.megabytes:,.0f} |"
        )


def counted(
    emulator: Emulator, kind: str, head: Transducer, lanes: int, order: LoopOrder, mode: LoopMode
) -> Row:
    """What one chunk of so many lanes costs."""
    config = DeviceLoopConfig(max_lanes=lanes, max_frames=FRAMES, mode=mode, order=order)
    loop = DeviceLabelLoop(loop_weights_of(head), emulator.device, config)
    chance = torch.Generator().manual_seed(lanes)
    chunks = [torch.randn(FRAMES, SHAPE.encoder_size, generator=chance) for _ in range(lanes)]
    emulator.restart(Settings(counts=True, finds_conflicts=False, finds_unwritten=False))
    found = loop(chunks, [loop.begin()] * lanes)
    kernels = emulator.counts()
    blocks = {name: each["blocks"] for name, each in kernels.items() if "run_loop" in name}
    arrived = sum(kernels[name]["global_atomics"] for name in blocks)
    return Row(
        kind,
        lanes,
        order.value,
        mode.value,
        sum(len(each.tokens) for each in found if each),
        emulator.host_launches + emulator.graph_launches,
        emulator.launches,
        arrived // max(1, sum(blocks.values())),
        sum(each["critical_instructions"] for each in kernels.values()),
        sum(each["global_bytes"] for each in kernels.values()) / 1e6,
    )


def rows(emulator: Emulator, all_lanes: list[int]) -> Iterator[Row]:
    """Each head, number of lanes, order and mode."""
    for kind, durations in DURATIONS.items():
        head = speaking_head(SHAPE.config(durations), RATE_HZ)
        for lanes in all_lanes:
            for order in LoopOrder:
                for mode in LoopMode:
                    yield counted(emulator, kind, head, lanes, order, mode)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("build_dir", type=Path)
    parser.add_argument("--lanes", type=int, nargs="+", default=[1, 4])
    asked = parser.parse_args()
    emulator = load(asked.build_dir)
    print(table(HEADER, []))
    with torch.inference_mode():
        for row in rows(emulator, asked.lanes):
            print(row, flush=True)


if __name__ == "__main__":
    main()
