"""Claim: a large model's weights are in memory once, as they are multiplied, and so while it loads.

Each engine is built in processes of its own, for one stream and for several, from an archive of
random weights; memory that is not a file's, before and after. A stream's own memory is what each
more of them adds. Kept are the weights that the engine needs, each as it is kept: linear layers of
the encoder as the precision says; norms, convolutions over time, projected positions and the whole
transducer in float32. The most is of all resident memory while it is built, beyond what the process
had before, with pages of its libraries.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.nemo_streams.kept_weights import BYTES, kept_bytes
from benchmarks.report import REPOSITORY, below_claim, resident_bytes, table, write_report
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.native.precision import Precision

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16", "int8", "w8a8")
MORE_STREAMS = 8
MEGABYTE = 1e6
FORGET_PEAK = "5"
"""To /proc/self/clear_refs: the most of memory is from now on that of now (proc(5))."""


@dataclass(frozen=True)
class Resident:
    """Bytes: of the process before its engine, what that adds, and adds at most in between."""

    process: int
    more: int
    most: int


def measured(archive: Path, precision: Precision, streams: int) -> Resident:
    """For this process alone."""
    import sentencepiece  # noqa: F401 - what libraries take is none of the model's
    import torch

    from earshot.streaming.assembly.engine_factory import build_engine
    from earshot.streaming.engine_config import EngineConfig

    torch.set_num_threads(1)
    torch.randn(9, 9) @ torch.randn(9, 9)
    Path("/proc/self/clear_refs").write_text(FORGET_PEAK, encoding="ascii")
    process, before = resident_bytes("RssAnon"), resident_bytes("VmRSS")
    config = EngineConfig(max_streams=streams, precision=precision)
    engine = build_engine(archive, {}, config, device="cpu")
    after, most = resident_bytes("RssAnon"), resident_bytes("VmHWM")
    assert engine.model.precision == precision
    return Resident(process, after - process, most - before)


def measured_apart(archive: Path, precision: Precision, streams: int) -> Resident:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.nemo_streams.resident_memory"]
    command += ["--one", precision, "--streams", str(streams), "--archive", str(archive)]
    done = subprocess.run(command, cwd=REPOSITORY, check=True, text=True, capture_output=True)
    return Resident(*map(int, done.stdout.split()))


def row(archive: Path, precision: Precision, parameters: int, kept: int) -> list[str]:
    """A line of the table."""
    one = measured_apart(archive, precision, 1)
    several = measured_apart(archive, precision, 1 + MORE_STREAMS)
    stream = (several.more - one.more) / MORE_STREAMS
    all_so, added = parameters * BYTES[precision], one.more - stream
    megabytes = (all_so, kept, one.process, stream, one.more, added)
    return [
        precision,
        *(f"{each / MEGABYTE:.0f}" for each in megabytes),
        f"{added / all_so:.2f}",
        f"{added / kept:.2f}",
        f"{one.most / MEGABYTE:.0f}",
    ]


HEADER = (
    "multiplies", "all weights so, MB", "kept, MB", "process, MB", "a stream, MB",
    "more for one stream, MB", "without it, MB", "times all so", "times kept", "at most, MB",
)  # fmt: skip


def main() -> None:
    """Run it and write docs/benchmarks/resident_memory.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, required=True, help="a .nemo of the benchmark's")
    parser.add_argument("--one", choices=PRECISIONS, help="measure this, and print it")
    parser.add_argument("--streams", type=int, default=1, help="of the one that is measured")
    options = parser.parse_args()
    if options.one:
        found = measured(options.archive, options.one, options.streams)
        print(found.process, found.more, found.most)
        return
    network = load_model(options.archive, late=True).model
    parameters = sum(each.numel() for each in network.parameters())
    rows = [
        row(options.archive, each, parameters, kept_bytes(network, each)) for each in PRECISIONS
    ]
    about = below_claim(__doc__)
    body = f"{about}\n\n{table(HEADER, rows)}\n"
    print(write_report("resident_memory", "Memory of a large model's weights", body))


if __name__ == "__main__":
    main()
