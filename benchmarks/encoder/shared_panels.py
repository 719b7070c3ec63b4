"""Claim: threads that share layers step a stream alone faster; for many, processes are as good.

A FastConformer's step over lanes whose rings are full: by one process with two threads, and by two
processes with a thread and half of the lanes each, which step at the same time. Arms in turns; the
wall time of a step of all lanes, the best of the rounds.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

import torch

from benchmarks.encoder.fast_conformer_step import Case, make_steps
from benchmarks.encoder.full_rings import FullRings
from benchmarks.report import below_claim, table, write_report
from earshot.models.fastconformer.steps.chunk_step import ChunkStep
from earshot.models.native.precision import Precision

WORKERS = 2
LANES = (1, 2, 4, 16)
PRECISIONS: tuple[Precision, ...] = ("float32", "int8")

Arm = Callable[[], object]


@dataclass(frozen=True)
class Beside:
    """A process that steps some lanes with one thread whenever all have come to the barrier."""

    asked: Connection
    process: mp.process.BaseProcess


def arm_of(case: Case, steps: dict[int, ChunkStep]) -> Arm:
    """Hears a chunk; of no lanes it does nothing."""
    return FullRings(steps[case.chunk], case.lanes).hear if case.lanes else lambda: None


def step_when_asked(steps: dict[int, ChunkStep], orders: Connection, start: Barrier) -> None:
    """For each case the seconds of one step of it, until None comes."""
    torch.set_num_threads(1)
    arms: dict[Case, Arm] = {}
    with torch.inference_mode():
        while (case := orders.recv()) is not None:
            if case not in arms:
                arms[case] = arm_of(case, steps)
            arm = arms[case]
            start.wait()
            began = time.perf_counter()
            arm()
            orders.send(time.perf_counter() - began)


def fork_beside(steps: dict[int, ChunkStep], start: Barrier) -> Beside:
    """A process with the weights of this one."""
    here, there = mp.Pipe()
    process = mp.get_context("fork").Process(target=step_when_asked, args=(steps, there, start))
    process.start()
    return Beside(here, process)


def processes_s(case: Case, beside: list[Beside]) -> float:
    """Seconds until the slowest has stepped its share."""
    own = [case.lanes * (i + 1) // WORKERS - case.lanes * i // WORKERS for i in range(WORKERS)]
    for each, lanes in zip(beside, own, strict=True):
        each.asked.send(Case(case.size, case.chunk, lanes))
    return max(each.asked.recv() for each in beside)


def threads_s(arm: Arm) -> float:
    """Seconds of a step by threads that share it."""
    began = time.perf_counter()
    arm()
    return time.perf_counter() - began


def rows_of(size: int, precision: Precision, rounds: int) -> Iterator[list[str]]:
    """Lines of the table."""
    _, steps = make_steps(size, precision)
    start = mp.get_context("fork").Barrier(WORKERS)
    beside = [fork_beside(steps, start) for _ in range(WORKERS)]
    for chunk in steps:
        for lanes in LANES:
            case = Case(size, chunk, lanes)
            torch.set_num_threads(WORKERS)
            arm = arm_of(case, steps)
            times = [(processes_s(case, beside), threads_s(arm)) for _ in range(rounds + 1)][1:]
            apart, together = (min(column) for column in zip(*times, strict=True))
            row = [f"{size}", precision, f"{1000 * chunk * 0.08:.0f}", f"{lanes}"]
            row += [f"{1000 * apart:.1f}", f"{1000 * together:.1f}", f"{apart / together:.2f}"]
            print(row, flush=True)
            yield row
    for each in beside:
        each.asked.send(None)
        each.process.join()


def main() -> None:
    """Run it and write docs/benchmarks/shared_panels.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024])
    options = parser.parse_args()
    with torch.inference_mode():
        rows = [
            row
            for size in options.sizes
            for precision in PRECISIONS
            for row in rows_of(size, precision, options.rounds)
        ]
    header = ["D", "multiplies", "chunk, ms", "lanes", "two processes, ms", "two threads, ms"]
    about = below_claim(__doc__)
    body = f"{about}\n\n{table([*header, 'times'], rows)}\n"
    print(write_report("shared_panels", "Threads that share a step", body))


if __name__ == "__main__":
    main()
