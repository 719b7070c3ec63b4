"""Claim: an image as large as a disk costs the memory that speech touches, once for all engines.

An hour of LibriSpeech, a minute to a file, four files at a time, goes through a server of two
engines whose searches ask the model word by word (`lm_in_search`). Before it no page of the image
is in memory. `MB of pages`: those that the kernel has read of the file since, whoever asked for
them (mincore). `mapped`: by each process (Rss in /proc/PID/smaps; the kernel maps those beside a
page too, if they are there), and what it answers for (Pss), at most. The larger images are copies
of the first, each over words of its own that lie between each other's
(`benchmarks/large_lm/woven_image.py`, by ``--copies``), so that as many n-grams are found of each
order.
"""

import argparse
import ctypes
import mmap
import os
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
import soundfile

from benchmarks.large_lm.woven_image import weave
from benchmarks.report import SHARED, below_claim, processor_name, show_report, table
from benchmarks.server.server_process import cpu_s, family_of, free_port, server_process
from benchmarks.server.spoken_hour import RATE_HZ, SpokenHour, lay_out
from earshot.decoder_kernels.lm.lm_image import LmImage

ENGINES = 2
FILES = 4
"""At a time, so that each engine has the image open all the while."""
MINUTE_S = 60.0
TOLD = (1, 2, 5, 10, 20, 40, 60)
"""Minutes."""
SEED = 3
OPENINGS = 20
HEADER = (
    "n-grams, millions", "GB", "opened in, ms: median, most",
    "MB of pages after 1, 2, 5, 10, 20, 40, 60 minutes",
    "a minute at the end, MB", "mapped by each process, MB", "answered for, MB",
    "CPU, s a second",
)  # fmt: skip


@dataclass
class Touched:
    """What one image took. pages_mb: after each minute of speech. The others by process."""

    ngrams: int
    size: int
    opened_ms: tuple[float, float]
    pages_mb: list[float] = field(default_factory=list)
    mapped_mb: dict[int, float] = field(default_factory=dict)
    answered_mb: dict[int, float] = field(default_factory=dict)
    cpu_share: float = 0.0

    def look(self, pid: int, image: Path) -> None:
        """Note what is there now, of a server and its engines."""
        self.pages_mb.append(pages_mb(image))
        for each in family_of(pid):
            rss, pss = mapped_mb(each, image)
            if rss:
                self.mapped_mb[each] = max(rss, self.mapped_mb.get(each, 0.0))
                self.answered_mb[each] = max(pss, self.answered_mb.get(each, 0.0))

    def line(self) -> list[str]:
        """A row of the table."""
        told = [self.pages_mb[minute - 1] for minute in TOLD if minute <= len(self.pages_mb)]
        last = self.pages_mb[-11:]
        return [
            f"{self.ngrams / 1e6:.1f}", f"{self.size / 1e9:.2f}",
            "{:.2f}, {:.2f}".format(*self.opened_ms),
            ", ".join(f"{mb:.0f}" for mb in told),
            f"{(last[-1] - last[0]) / max(1, len(last) - 1):.1f}",
            ", ".join(f"{mb:.0f}" for mb in self.mapped_mb.values()),
            ", ".join(f"{mb:.0f}" for mb in self.answered_mb.values()),
            f"{self.cpu_share:.3f}",
        ]  # fmt: skip


def measure(image: Path, hour: SpokenHour, minutes: int) -> Touched:
    """A server's hour with an image."""
    touched = Touched(LmImage(image).header.num_ngrams, image.stat().st_size, opening_ms(image))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lms").mkdir()
        own = folder / "lms" / "large.lm"
        own.symlink_to(image)
        let_go(image)
        with server_process(serving(port := free_port(), own.parent), port, folder) as pid:
            before = cpu_s(pid)
            for _ in spoken(port, hour, minutes):
                touched.look(pid, image)
            touched.cpu_share = (cpu_s(pid) - before) / (minutes * MINUTE_S)
    return touched


def serving(port: int, lms: Path) -> list[str]:
    """The command."""
    return [
        sys.executable, "-m", "earshot.service", "serve", "--port", str(port),
        "--engines", str(ENGINES), "--threads", "1", "--lm-dir", str(lms), "--lm-in-search",
    ]  # fmt: skip


def spoken(port: int, hour: SpokenHour, minutes: int) -> Iterator[str]:
    """Texts of one minute after the other, `FILES` at a time."""

    def said(minute: int) -> str:
        samples = hour.piece(minute * MINUTE_S, MINUTE_S)
        with tempfile.TemporaryFile() as file:
            soundfile.write(file, samples, RATE_HZ, format="WAV")
            file.seek(0)
            return posted(port, file.read())

    with ThreadPoolExecutor(FILES) as pool:
        yield from pool.map(said, range(minutes))


def posted(port: int, content: bytes) -> str:
    """A file's text."""
    url = f"http://127.0.0.1:{port}/v1/listen?format=text&lm=large"
    with urllib.request.urlopen(urllib.request.Request(url, content), timeout=600) as answer:
        text: str = answer.read().decode()
    return text


def opening_ms(image: Path) -> tuple[float, float]:
    """The median and the most of some openings, in milliseconds."""
    took = []
    for _ in range(OPENINGS):
        start = time.perf_counter()
        LmImage(image)
        took.append(1e3 * (time.perf_counter() - start))
    return median(took), max(took)


def let_go(image: Path) -> None:
    """Have the kernel forget what it has read of a file. Raises RuntimeError where it keeps it."""
    with image.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if (left := pages_mb(image)) > 1:
        raise RuntimeError(f"{left:.0f} MB of {image} stay in memory: somebody has it mapped")


def pages_mb(image: Path) -> float:
    """How much of a file is in memory."""
    with image.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        bytes_of = np.frombuffer(content, np.uint8)
        pages = np.zeros(-(-len(bytes_of) // mmap.PAGESIZE), np.uint8)
        libc = ctypes.CDLL(None, use_errno=True)
        at, into = ctypes.c_void_p(bytes_of.ctypes.data), ctypes.c_void_p(pages.ctypes.data)
        refused = libc.mincore(at, ctypes.c_size_t(len(bytes_of)), into)
        del bytes_of
    if refused:
        raise OSError(ctypes.get_errno(), "mincore")
    return int((pages & 1).sum()) * mmap.PAGESIZE / 1e6


def mapped_mb(pid: int, image: Path) -> tuple[float, float]:
    """Rss and Pss of a process's mappings of a file."""
    kb = {"Rss": 0, "Pss": 0}
    is_own = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        name, _, value = line.partition(":")
        if " " in name:  # the first line of a mapping: addresses, rights, and so on
            is_own = line.endswith(str(image.resolve()))
        elif is_own and name in kb:
            kb[name] += int(value.split()[0])
    return kb["Rss"] * 1024 / 1e6, kb["Pss"] * 1024 / 1e6


def measured(images: Sequence[Path], minutes: int) -> str:
    """The table of all images."""
    with tempfile.TemporaryDirectory() as name:
        hour = lay_out(SHARED / "speech", Path(name) / "hour.wav", minutes * MINUTE_S, SEED)
        return table(HEADER, [measure(image, hour, minutes).line() for image in images])


def main() -> None:
    """Weave an image, or run the hour with images that are there and print, or write, the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "images", type=Path, nargs="+", help="with --copies: the one, and a new one"
    )
    parser.add_argument("--copies", type=int, help="weave so many into a new image, and end")
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--write", action="store_true", help="the page")
    asked = parser.parse_args()
    if asked.copies:
        source, woven = asked.images
        weave(source, asked.copies, woven)
        return
    found = measured(asked.images, asked.minutes)
    where = f"{asked.minutes} minutes of speech, {ENGINES} engines, on {processor_name()}."
    body = f"{below_claim(__doc__)}\n\n{where}\n\n{found}\n"
    show_report("touched_pages", "What speech touches of an image", body, is_written=asked.write)


if __name__ == "__main__":
    main()
