"""Engines in process on the same weights and clips, in turns: Earshot's, and sherpa-onnx's."""

import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.sherpa_export import SherpaFiles
from benchmarks.peers.turns import Turn, TurnTaker
from benchmarks.server.batching import CLIP_S, clips
from benchmarks.server.spoken_hour import RATE_HZ

CHUNK_SIZE, NUM_LEFT_CHUNKS = 16, 4
CHUNKING = ("--chunk-size", str(CHUNK_SIZE), "--num-left-chunks", str(NUM_LEFT_CHUNKS))
CLIPS = 16
HEADER = (
    "model", "streams at once", "arm", "CPU ms per s of audio", "min-max", "times sherpa's fp32",
)  # fmt: skip


@dataclass(frozen=True)
class Contest:
    """One model in both engines.

    random: whether its weights are, which no defaults are for, and whose texts say nothing. clip_s:
    of each clip, so much is decoded.
    """

    name: str
    model: Path
    files: SherpaFiles
    clip_s: float = CLIP_S
    random: bool = False

    def commands(self, audio: Path, together: int, peer_python: Path) -> dict[str, list[str]]:
        """How each arm is started; the peer's fp32 comes first."""
        streams = (str(audio), "--together", str(together))

        def sherpa(int8: bool) -> list[str]:
            files = str(self.files.network(int8)), str(self.files.tokens)
            return [str(peer_python), "-m", "benchmarks.peers.sherpa", *files, *streams, *CHUNKING]

        model = ("--model", str(self.model))
        ours = [sys.executable, "-m", "benchmarks.server.engine_turns", *streams, *model]
        arms = {
            "sherpa-onnx fp32": sherpa(int8=False),
            "sherpa-onnx int8": sherpa(int8=True),
            "Earshot, greedy": [*ours, "--greedy", *CHUNKING],
        }
        return arms if self.random else arms | {"Earshot, all defaults": ours}


def rows(
    contest: Contest, together: Sequence[int], rounds: int, peer_python: Path, folder: Path
) -> list[list[str]]:
    """Lines of the table, for each number of streams at once."""
    audio = folder / f"{contest.name}.npy"
    np.save(audio, np.stack(clips(CLIPS))[:, : round(contest.clip_s * RATE_HZ)])
    lines = []
    for streams in together:
        arms = contest.commands(audio, streams, peer_python)
        costs = {
            name: [1000 * turn.cpu_s / (CLIPS * contest.clip_s) for turn in turns]
            for name, turns in take_turns(arms, rounds, folder).items()
        }
        lines += [[contest.name, str(streams), *cells] for cells in cells_of(costs)]
    return lines


def take_turns(arms: dict[str, list[str]], rounds: int, folder: Path) -> dict[str, list[Turn]]:
    """Every arm once in each round; an arm's process waits while others have their turn."""
    with ExitStack() as stack:
        takers = [
            stack.enter_context(TurnTaker(name, command, folder / f"arm-{index}.log"))
            for index, (name, command) in enumerate(arms.items())
        ]
        taken: dict[str, list[Turn]] = {taker.name: [] for taker in takers}
        for _ in range(rounds):
            for taker in takers:
                taken[taker.name].append(taker.turn())
    return taken


def cells_of(costs: dict[str, list[float]]) -> list[list[str]]:
    """Of each arm: its name, median, spread, and ratio to the first arm."""
    first = statistics.median(next(iter(costs.values())))
    lines = []
    for name, values in costs.items():
        median = statistics.median(values)
        spread = f"{min(values):.2f}-{max(values):.2f}"
        lines.append([name, f"{median:.2f}", spread, f"{median / first:.2f}"])
        print("  ".join(lines[-1]), flush=True)
    return lines
