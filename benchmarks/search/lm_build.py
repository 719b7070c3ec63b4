"""Claim: an n-gram model of any text is estimated in bounded memory, and its bytes are the same.

`earshot lm build` of a text, nothing left out, once for each ``--memory``: time, and the most that
the process held, of its own (anonymous) and with the pages of files that it had mapped.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import below_claim, show_report, table
from earshot.decoder_kernels.lm.lm_image import LmImage

KEPT = 1_000_000_000
SECONDS_BETWEEN_LOOKS = 0.1
HEADER = (
    "--memory, MB",
    "n-grams",
    "wall, s",
    "CPU, s",
    "most memory of its own, MB",
    "with pages of files, MB",
    "most disk on the way, MB",
    "image, MB",
)


class Held(NamedTuple):
    """Memory of a process in kB: all that is resident, and what is no file's."""

    resident: int
    anonymous: int


class Built(NamedTuple):
    """What a run took, and what came of it."""

    wall_s: float
    cpu_s: float
    most: Held
    disk: int
    digest: str


def held_by(process: int) -> Held:
    """What a process holds now; nothing if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return Held(0, 0)
    numbers = {line.split()[0]: int(line.split()[1]) for line in lines}
    return Held(numbers["Rss:"], numbers["Anonymous:"])


def disk_of(process: int) -> int:
    """Bytes of files that a process has open or mapped and that have no name any more."""
    files: dict[tuple[int, int], int] = {}
    try:
        links = list(Path(f"/proc/{process}/map_files").iterdir())
        links += list(Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return 0
    for link in links:
        try:
            found = link.stat()
        except OSError:
            continue
        if not found.st_nlink:
            files[found.st_dev, found.st_ino] = 512 * found.st_blocks
    return sum(files.values())


def build(text: Path, out: Path, options: list[str]) -> Built:
    """Run the command, looking at it as it runs. Raises RuntimeError if it fails."""
    command = [sys.executable, "-m", "earshot.service", "lm", "build", str(text), "--out", str(out)]
    command += ["--max-ngrams", str(KEPT), *options]
    begin, most, disk = time.perf_counter(), Held(0, 0), 0
    process = os.posix_spawn(sys.executable, command, os.environ)
    while True:
        ended, status, usage = os.wait4(process, os.WNOHANG)
        if ended:
            break
        now = held_by(process)
        most = Held(max(most.resident, now.resident), max(most.anonymous, now.anonymous))
        disk = max(disk, disk_of(process))
        time.sleep(SECONDS_BETWEEN_LOOKS)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    wall, cpu = time.perf_counter() - begin, usage.ru_utime + usage.ru_stime
    with out.open("rb") as file:
        digest = hashlib.file_digest(file, "blake2b").hexdigest()
    return Built(wall, cpu, most, disk, digest)


def main() -> None:
    """Build, compare, and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path, help="plain, gzip or xz")
    parser.add_argument("--memory", type=int, nargs="+", default=[256, 1024], metavar="MB")
    parser.add_argument("--order", type=int, default=4)
    parser.add_argument("--max-words", type=int, default=200_000)
    parser.add_argument("--as-is", action="store_true", help="the text is clean")
    parser.add_argument("--folder", type=Path, help="on a disk with room")
    parser.add_argument("--write", action="store_true", help="the page")
    arguments = parser.parse_args()
    options = ["--order", str(arguments.order), "--max-words", str(arguments.max_words)]
    options += ["--as-is"] if arguments.as_is else []
    rows, digests = [], set()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for memory in arguments.memory:
            out = Path(folder) / "model.lm"
            built = build(arguments.text, out, [*options, "--memory", str(memory)])
            digests.add(built.digest)
            header = LmImage(out).header
            rows.append([
                str(memory), f"{header.num_ngrams:,}", f"{built.wall_s:.0f}", f"{built.cpu_s:.0f}",
                f"{built.most.anonymous // 1024:,}", f"{built.most.resident // 1024:,}",
                f"{built.disk >> 20:,}", f"{header.file_size >> 20:,}",
            ])  # fmt: skip
            print(rows[-1], flush=True)
    assert len(digests) == 1, "the memory makes a difference"
    name = f"{arguments.text.name}, order {arguments.order}"
    said = f"{name}, nothing left out; the images are the same, byte for byte."
    body = f"{below_claim(__doc__)}\n\n{said}\n\n{table(HEADER, rows)}\n"
    title = "Estimating a language model in bounded memory"
    show_report("lm_build", title, body, is_written=arguments.write)


if __name__ == "__main__":
    main()
