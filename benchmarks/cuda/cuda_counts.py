"""What the CUDA half costs where nobody can time it: counted on the emulated device.

``make cuda-count`` prints the tables of ``docs/benchmarks/gpu_counts.md``. The searches walk
simulated posteriors: with the bundled graph as wide as the comparisons with peers do and as it is
served, and prefixes over 500 units. The chunk's kernel is counted per frame, those for results,
boosts and new streams per launch. Machine code is what ptxas says of it (``machine_code.py``).
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from emulator import Emulator, KernelCounts, Settings, load

from benchmarks.cuda import machine_code
from benchmarks.wfst.posteriors import simulated
from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions, WfstSearch, WfstSearchConfig
from earshot.models.bundled import bundled_model_dir

FRAMES = 24
BOOSTED_FRAMES = 8
LISTED = 10
CHUNK = "WalkChunk"
SLOT = torch.tensor([0])
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
    """Of one search; as in ``machine/counts.h``.

    per_frame: of the chunk's kernel. per_launch: of each other kernel, for one lane.
    """

    search: str
    per_frame: dict[str, float]
    per_launch: dict[str, dict[str, float]]


def count_searches(emulator: Emulator) -> Iterator[Cost]:
    """Of all kernels that a stream launches; a GPU's own number of threads a block."""
    graph = read_graph(bundled_model_dir() / "lm.graph.xz", UnpackedCopies.of_user())
    [utterance] = simulated(graph, 1, 12, seed=2)
    frames = torch.from_numpy(utterance.log_probs[:FRAMES])[None]
    for name, options in SEARCHES.items():
        search = WfstSearch(graph, WfstSearchConfig(), 1, emulator.device)
        search.set_options(0, options)
        yield _count(emulator, name, search, frames)
    scores = np.random.default_rng(1).gumbel(size=(1, FRAMES, 500)).astype(np.float32) * 3
    config = PrefixSearchConfig()
    prefixes = PrefixSearch(config, 1, 500, emulator.device)
    log_probs = torch.from_numpy(scores).log_softmax(-1)
    yield _count(emulator, PREFIXES, prefixes, log_probs)


def _count(
    emulator: Emulator, name: str, search: WfstSearch | PrefixSearch, frames: torch.Tensor
) -> Cost:
    there, lengths = frames.to(emulator.device), torch.tensor([frames.shape[1]])
    emulator.restart(Settings(counts=True))
    search.advance(SLOT, there, lengths)
    search.best(SLOT)
    if isinstance(search, WfstSearch):
        search.nbest([0], LISTED)
    else:
        search.nbest(0, LISTED)
    counted = emulator.counts()
    emulator.restart()
    _boost_what_was_heard(search)
    search.advance(SLOT, there[:, :BOOSTED_FRAMES], lengths.clamp(max=BOOSTED_FRAMES))
    emulator.restart(Settings(counts=True))
    search.set_boost(0, None)
    search.reset(SLOT)
    counted |= emulator.counts()
    emulator.restart()
    [chunk] = [own for kernel, own in counted.items() if CHUNK in kernel]
    others = {
        machine_code.kernel_name(kernel): shares(own, COUNTED, own["launches"])
        for kernel, own in counted.items()
        if CHUNK not in kernel
    }
    return Cost(name, shares(chunk, COUNTED, frames.shape[1]), others)


def _boost_what_was_heard(search: WfstSearch | PrefixSearch) -> None:
    """Phrases that each of its words or tokens begins, and none ends."""
    if isinstance(search, WfstSearch):
        words = search.best(SLOT)[0].hypothesis.words
        phrases = [WordPhrase((word, word), 1.5) for word in set(words)]
        search.set_boost(0, WordBoostTable.compile(phrases, search.graph))
    else:
        tokens = search.best(SLOT)[0].hypothesis.tokens
        repeated = [BoostPhrase((token, token), 1.5) for token in set(tokens)]
        search.set_boost(0, BoostTable.compile(repeated, search.vocab_size))


def shares(counts: KernelCounts, names: Sequence[str], of: int) -> dict[str, float]:
    """Some of the counts, each parted by a number of frames or launches."""
    return {name: counts[name] / of for name in names}  # type: ignore[literal-required]


def per_frame_table(
    costs: list[Cost], names: Sequence[str] = COUNTED, head: str = "per frame"
) -> Iterator[list[str]]:
    """Rows of cells, the head first: a column for each search."""
    yield [head, *(cost.search for cost in costs)]
    for name in names:
        yield [_title(name), *(f"{cost.per_frame[name]:,.0f}" for cost in costs)]


def per_launch_table(costs: list[Cost]) -> Iterator[list[str]]:
    """Rows of cells, the head first: a row for each kernel of each search."""
    yield ["per launch", *map(_title, COUNTED)]
    for cost in costs:
        for kernel, shares in cost.per_launch.items():
            numbers = (f"{shares[name]:,.0f}" for name in COUNTED)
            yield [f"{kernel} ({cost.search})", *numbers]


def machine_code_table(architectures: Sequence[int]) -> Iterator[list[str]]:
    """Rows of cells, the head first: a row for each kernel and architecture."""
    yield ["kernel", *machine_code.COLUMNS]
    for architecture in architectures:
        for code in machine_code.compiled(architecture):
            yield [f"{code.kernel}, sm_{architecture}", *code.cells()]


def _title(name: str) -> str:
    return name.replace("_", " ")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="where the emulated device was built")
    arguments = parser.parse_args()
    emulator = load(arguments.build)
    emulator.restart()
    costs = list(count_searches(emulator))
    for table in (
        per_frame_table(costs),
        per_launch_table(costs),
        machine_code_table(machine_code.ARCHITECTURES),
    ):
        show(table)
        print()


def show(rows: Iterator[list[str]]) -> None:
    """Print cells as a table."""
    head, *others = rows
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in others:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
