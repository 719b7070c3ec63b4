"""Claim: a call of several threads costs less by the pool than by threads that it starts itself.

Wall and CPU time of calls whose shares do nothing, or 0.1 ms of work, with 0.2 ms between calls:
medians of turns, both ways in turns. Needs g++.
"""

import argparse
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from benchmarks.report import REPOSITORY, table, write_report

CSRC = REPOSITORY / "native" / "csrc"
SOURCES = (Path(__file__).with_suffix(".cpp"), CSRC / "threads" / "thread_pool.cpp")
PAUSE_US = 200

Case = tuple[int, float]
"""Threads, and microseconds of work in a share."""


def run_program() -> str:
    """What the compiled program prints."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "thread_calls"
        flags = ["-std=c++20", "-O2", f"-I{CSRC}", "-pthread"]
        subprocess.run(["g++", *flags, *SOURCES, "-o", program], check=True)
        return subprocess.run([program], text=True, check=True, capture_output=True).stdout


def medians(printed: str) -> dict[Case, dict[str, tuple[float, float]]]:
    """Wall and CPU microseconds of a call, for each case and way."""
    turns: dict[tuple[Case, str], list[tuple[float, float]]] = defaultdict(list)
    for line in printed.splitlines():
        way, threads, work, wall, cpu = line.split()
        turns[(int(threads), float(work)), way].append((float(wall) - PAUSE_US, float(cpu)))
    found: dict[Case, dict[str, tuple[float, float]]] = defaultdict(dict)
    for (case, way), measured in turns.items():
        walls, cpus = zip(*measured, strict=True)
        found[case][way] = median(walls), median(cpus)
    return found


def main() -> None:
    """Measure, print, and write the report where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="write docs/benchmarks/")
    arguments = parser.parse_args()
    rows = []
    for (threads, work), ways in medians(run_program()).items():
        (pool_wall, pool_cpu), (new_wall, new_cpu) = ways["pool"], ways["new"]
        rows.append([
            f"{threads}", f"{work:.0f}", f"{pool_wall:.0f}", f"{new_wall:.0f}",
            f"{pool_wall / new_wall:.2f}", f"{pool_cpu:.0f}", f"{new_cpu:.0f}",
            f"{pool_cpu / new_cpu:.2f}",
        ])  # fmt: skip
    header = ["threads", "work in a share, µs", "wall, pool", "wall, new threads", "ratio",
              "CPU, pool", "CPU, new threads", "ratio"]  # fmt: skip
    body = f"Microseconds of a call, sleep's lateness included.\n\n{table(header, rows)}"
    print(body)
    if arguments.report:
        write_report("thread_calls", "Calls of several threads", body)


if __name__ == "__main__":
    main()
