"""Where the time goes in a server under live load.

Runs `earshot bench` under py-spy (`pip install py-spy`), which samples the stacks of the server
that it starts, and files every sample under the first of the parts below that it runs through.
"""

import argparse
import collections
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.report import SHARED, table, write_report

SAMPLES_PER_S = 100
# A part of the work, and what the frames of its stacks contain; the first match counts.
WAITING = "waiting for work"
STARTING = "starting"
PARTS = (
    (WAITING, ("select (selectors.py", "wait (threading.py")),
    (STARTING, ("_find_and_load", "build_engine", "warm_up")),
    ("features", ("compute_features",)),
    ("encoder and CTC", ("streaming/u2/encode.py",)),
    ("language model", ("streaming/parts/neural_lm.py",)),
    ("tagger", ("streaming/parts/word_tagging.py",)),
    ("attention rescoring", ("streaming/u2/second_pass.py", "streaming/u2/written_pass.py")),
    ("partials and finals", ("_publish (",)),
    ("search", ("streaming/search/search_set.py", "decoder_kernels/")),
    ("batching and events", ("streaming/",)),
    ("sockets, audio decoding and JSON", ("asyncio/", "service/")),
)


def part_of(stack: str) -> str:
    """The part that a stack belongs to."""
    for name, marks in PARTS:
        if any(mark in stack for mark in marks):
            return name
    return "other"


def count(samples: Path) -> collections.Counter[str]:
    """The server's samples by part, from py-spy's raw format: frames joined by ";", a count."""
    parts: collections.Counter[str] = collections.Counter()
    for line in samples.read_text().splitlines():
        stack, times = line.rsplit(" ", 1)
        if "service serve" in stack:  # py-spy puts the command line in front
            parts[part_of(stack)] += int(times)
    del parts[WAITING], parts[STARTING]
    return parts


def record(streams: int, duration_s: float, server_flags: list[str]) -> collections.Counter[str]:
    """Run the load under py-spy and count."""
    programs = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "samples.txt"
        command = [
            str(programs / "py-spy"), "record", "--subprocesses", "--nonblocking", "--rate",
            str(SAMPLES_PER_S), "--format", "raw", "--output", str(samples), "--",
            str(programs / "earshot"), "bench", "--streams", str(streams), "--duration",
            f"{duration_s:g}", "--audio", str(SHARED / "speech" / "dev.tsv"), "--", *server_flags,
        ]  # fmt: skip
        subprocess.run(command, check=False)  # the bench fails where the count does not hold
        return count(samples)


def main() -> None:
    """Run it and write docs/benchmarks/profile_server.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--duration", type=float, default=60.0)
    parser.add_argument("server_flags", nargs="*", default=("--engines", "1"))
    arguments = parser.parse_args()
    parts = record(arguments.streams, arguments.duration, list(arguments.server_flags))
    total = sum(parts.values())
    rows = [[name, f"{100 * times / total:.1f} %"] for name, times in parts.most_common()]
    body = f"""
{arguments.streams} live streams for {arguments.duration:g} s, {SAMPLES_PER_S} stacks a second of
every thread of the server that ran, {total} samples; server flags
`{" ".join(arguments.server_flags)}`.

{table(["part", "share of samples"], rows)}
"""
    print(body)
    print(write_report("profile_server", "Where the time of a server goes", body.lstrip()))


if __name__ == "__main__":
    main()
