"""What the CUDA half costs where nobody can time it: counted on the emulated device, per frame.

``make cuda-count`` prints the tables of ``docs/benchmarks/gpu_counts.md``. The searches walk
simulated posteriors: with the bundled graph as wide as the comparisons with peers do and as it is
served, and prefixes over 500 units. Machine code is what ptxas says of it (``machine_code.py``).
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from emulator import Emulator, KernelCounts, Settings, load

from benchmarks.cuda import machine_code
from benchmarks.wfst.posteriors import simulated
from earshot.decoder_kernels.graph.graph_image import read_image
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions, WfstSearch, WfstSearchConfig
from earshot.models.bundled import bundled_model_dir

FRAMES = 24
COUNTED = (
    "critical_instructions",
    "critical_accesses",
    "critical_doubles",
    "barriers",
    "fences",
    "global_atomics",
    "shared_atomics",
    "global_bytes",
    "shared_bytes",
    "own_bytes",
)
SEARCHES = {
    "graph, beam 17, 10,000 active": WfstOptions(beam=17.0, max_active=10_000),
    "graph, beam 12, 3,000 active": WfstOptions(beam=12.0, max_active=3_000),
}
PREFIXES = "prefixes, 10 of 500 units"


@dataclass(frozen=True)
class Cost:
    """Of one search, for a frame; as in ``machine/counts.h``."""

    search: str
    per_frame: dict[str, float]


def count_searches(emulator: Emulator) -> Iterator[Cost]:
    """Of the chunk's kernel alone; a GPU's own number of threads a block."""
    graph = read_image(bundled_model_dir() / "lm.graph.xz")
    [utterance] = simulated(graph, 1, 12, seed=1)
    frames = torch.from_numpy(utterance.log_probs[:FRAMES])[None]
    for name, options in SEARCHES.items():
        search = WfstSearch(graph, WfstSearchConfig(), 1, emulator.device)
        search.set_options(0, options)
        yield Cost(name, _count(emulator, search, frames))
    scores = np.random.default_rng(1).gumbel(size=(1, FRAMES, 500)).astype(np.float32) * 3
    config = PrefixSearchConfig()
    prefixes = PrefixSearch(config, 1, 500, emulator.device)
    log_probs = torch.from_numpy(scores).log_softmax(-1)
    yield Cost(PREFIXES, _count(emulator, prefixes, log_probs))


def _count(
    emulator: Emulator, search: WfstSearch | PrefixSearch, frames: torch.Tensor
) -> dict[str, float]:
    there = frames.to(emulator.device)
    emulator.restart(Settings(counts=True))
    search.advance(torch.tensor([0]), there, torch.tensor([frames.shape[1]]))
    [counts] = [own for name, own in emulator.counts().items() if "WalkChunk" in name]
    emulator.restart()
    return {name: _per_frame(counts, name, frames.shape[1]) for name in COUNTED}


def _per_frame(counts: KernelCounts, name: str, frames: int) -> float:
    return counts[name] / frames  # type: ignore[literal-required]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="where the emulated device was built")
    arguments = parser.parse_args()
    emulator = load(arguments.build)
    emulator.restart()
    costs = list(count_searches(emulator))
    print("| per frame | " + " | ".join(cost.search for cost in costs) + " |")
    print("|---|" + "---|" * len(costs))
    for name in COUNTED:
        row = " | ".join(f"{cost.per_frame[name]:,.0f}" for cost in costs)
        print(f"| {name.replace('_', ' ')} | {row} |")
    print()
    print("| kernel | " + " | ".join(machine_code.COLUMNS) + " |")
    print("|---|" + "---|" * len(machine_code.COLUMNS))
    for architecture in machine_code.ARCHITECTURES:
        for code in machine_code.compiled(architecture):
            print(f"| {code.kernel}, sm_{architecture} | {code.row()} |")


if __name__ == "__main__":
    main()
