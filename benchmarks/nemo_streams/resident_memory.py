"""Claim: a large model's weights are in memory once, as they are multiplied.

Each engine is built in a process of its own for one stream, from an archive of random weights;
memory that is not a file's, before and after, and the most that there was.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.report import REPOSITORY, resident_bytes, table, write_report
from earshot.models.native.precision import Precision

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16", "int8")
BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}
MEGABYTE = 1e6


def measured(archive: Path, precision: Precision) -> tuple[float, float, float]:
    """Megabytes of all weights so packed, more than before, and at most; for this process alone."""
    import sentencepiece  # noqa: F401 - what libraries take is none of the model's
    import torch

    from earshot.streaming.assembly.engine_factory import build_engine
    from earshot.streaming.engine_config import EngineConfig

    torch.set_num_threads(1)
    torch.randn(9, 9) @ torch.randn(9, 9)
    before = resident_bytes("RssAnon")
    config = EngineConfig(max_streams=1, precision=precision)
    engine = build_engine(archive, {}, config, device="cpu")
    after = resident_bytes("RssAnon")
    assert engine.model.precision == precision
    packed = engine.model.parameters * BYTES[precision] / MEGABYTE
    most = resident_bytes("VmHWM")
    return packed, (after - before) / MEGABYTE, (most - before) / MEGABYTE


def row(archive: Path, precision: Precision) -> list[str]:
    """A line of the table, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.nemo_streams.resident_memory", "--one", precision]
    command += ["--archive", str(archive)]
    done = subprocess.run(command, cwd=REPOSITORY, check=True, text=True, capture_output=True)
    packed, more, most = map(float, done.stdout.split())
    return [
        precision,
        *(f"{each:.0f}" for each in (packed, more)),
        f"{more / packed:.2f}",
        f"{most:.0f}",
    ]


def main() -> None:
    """Run it and write docs/benchmarks/resident_memory.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, required=True, help="a .nemo of the benchmark's")
    parser.add_argument("--one", choices=PRECISIONS, help="measure this, and print it")
    options = parser.parse_args()
    if options.one:
        print(*measured(options.archive, options.one))
        return
    rows = [row(options.archive, each) for each in PRECISIONS]
    header = ["multiplies", "weights, MB", "more in memory, MB", "times", "at most, MB"]
    about = (__doc__ or "").split("\n", 2)[2].strip()
    body = f"{about}\n\n{table(header, rows)}\n"
    print(write_report("resident_memory", "Memory of a large model's weights", body))


if __name__ == "__main__":
    main()
