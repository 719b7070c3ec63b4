"""Claim: a core makes hours of synthetic speech a minute, checked and encoded.

For each engine that is installed: a balanced set of its voices in a fresh folder by one worker, CPU
time of the engine's processes and of ours apart, and the size of what was written.
"""

import argparse
import resource
import tempfile
from pathlib import Path

from benchmarks.report import SHARED, table, write_report
from earshot.training.synthetic.engines import ENGINES
from earshot.training.synthetic.errors import EngineMissing
from earshot.training.synthetic.maker import Amount, Made, Maker
from earshot.training.synthetic.plan import Plan
from earshot.training.synthetic.sentences import Sentences, read_sentences

HEADER = (
    *("engine", "recordings", "speech", "engine", "checks, encoder"),
    *("hours a core-minute", "MB an hour"),
)


def cpu_s(whose: int) -> float:
    """CPU time of this process, or of its children."""
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def measure(name: str, sentences: Sentences, count: int) -> list[str]:
    """A row of the table."""
    ours, theirs = cpu_s(resource.RUSAGE_SELF), cpu_s(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(3, engines={name: 1.0})
        made: Made = Maker(Path(folder) / "made", plan, sentences).make(Amount(count))
    ours = cpu_s(resource.RUSAGE_SELF) - ours
    theirs = cpu_s(resource.RUSAGE_CHILDREN) - theirs
    return [
        name,
        f"{made.count}",
        f"{made.seconds:.0f} s",
        f"{theirs:.1f} s",
        f"{ours:.1f} s",
        f"{made.seconds / (ours + theirs) / 60:.2f}",
        f"{made.size / 1e6 / (made.seconds / 3600):.1f}",
    ]


def main() -> None:
    """Measure the engines that are here; say which are not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=150, help="recordings of each engine")
    parser.add_argument("--text", type=Path, default=SHARED / "text" / "sentences.txt")
    arguments = parser.parse_args()
    sentences = read_sentences([arguments.text], seed=3)
    rows = []
    for name in ENGINES:
        try:
            rows.append(measure(name, sentences, arguments.count))
        except EngineMissing as error:
            rows.append([name, f"not measured: {error}", *[""] * (len(HEADER) - 2)])
        print(" | ".join(rows[-1]), flush=True)
    body = "CPU time on one core of a balanced set.\n\n" + table(HEADER, rows)
    print(write_report("synthetic_speech", "Making synthetic speech", body))


if __name__ == "__main__":
    main()
