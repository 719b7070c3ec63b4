"""Claim: streams switch language models while files come and go, and nobody else notices.

Live streams that name another model every few seconds, by `Configure`, and four that name none,
while the files of all models are replaced, removed and put back; and the same streams before it
without a change. Five of the models are one large file, the others are of some sentences each.
`others' errors`: words of those who name none that differ from the same audio as the only stream.
Memory and file handles are those of the server and its engines.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.server.server_process import family_of, free_port, server_process
from earshot.language.text.text_files import read_sentences
from earshot.service.bench.caller import Change
from earshot.service.bench.clips import Clip, load_clips
from earshot.service.bench.load import run_load, texts_alone
from earshot.service.bench.measurements import Measurements, Summary
from earshot.service.bench.target import Target
from earshot.service.commands.cli import main as earshot

EVERY_S = 5.0
GENERAL = 5
OTHERS = 4
"""Streams that name no model."""

TENANT_SENTENCES = (200, 400, 800, 1_600, 3_200, 6_400)
"""Models of some 1,000 to 100,000 n-grams."""
SENTENCES = 100_000
CLIPS = 60
SEED = 11
HEADER = (
    "", "partial p50 / p95 ms", "final p50 / p95 ms", "late", "lag growth ms", "others' errors",
    "changes", "refused", "files changed", "resident MB: first, most, last", "handles: first, last",
)  # fmt: skip


class Models:
    """Files that come and go in a folder: of each a copy is kept beside it."""

    def __init__(self, folder: Path, kept: Path) -> None:
        self.folder = folder
        self._kept = sorted(kept.glob("*.lm"))
        self._chance = random.Random(SEED)
        self.changed = 0
        for path in self._kept:
            self._put(path, path.name)

    @property
    def names(self) -> list[str]:
        """What clients may name, if it is there."""
        return [path.stem for path in self._kept]

    async def come_and_go(self) -> None:
        """Replace or remove one file after the other, and put back what was removed."""
        while True:
            await asyncio.sleep(EVERY_S / 4)
            path = self._chance.choice(self._kept)
            if self._chance.random() < 0.25:
                (self.folder / path.name).unlink(missing_ok=True)
            else:
                other = self._chance.choice(self._kept)
                await asyncio.to_thread(self._put, other, path.name)
            self.changed += 1

    def _put(self, source: Path, name: str) -> None:
        partial = self.folder / f"{name}.partial"
        shutil.copyfile(source, partial)
        partial.rename(self.folder / name)


@dataclass
class Room:
    """Resident memory and file handles of a server and its engines, every few seconds."""

    pid: int
    resident_mb: list[float] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)

    async def watch(self) -> None:
        """Look until it is cancelled."""
        while True:
            pids = list(family_of(self.pid))
            self.resident_mb.append(sum(map(_resident_mb, pids)))
            self.handles.append(sum(map(_handles, pids)))
            await asyncio.sleep(EVERY_S)


@dataclass(frozen=True)
class Run:
    """What callers without models noted, what those with models did, and what was watched."""

    others: Measurements
    switching: Measurements
    files: int
    room: Room

    def line(self, name: str) -> list[str]:
        """A row of the table."""
        both = Measurements(
            self.others.streams + self.switching.streams,
            self.others.duration_s,
            [*self.others.heard, *self.switching.heard],
            self.others.partial_latencies_s + self.switching.partial_latencies_s,
        )
        said, alone = Summary.of(both), Summary.of(self.others).wer_to_alone
        memory, handles = self.room.resident_mb, self.room.handles
        return [
            name,
            f"{said.partial.p50_ms:.0f} / {said.partial.p95_ms:.0f}",
            f"{said.final.p50_ms:.0f} / {said.final.p95_ms:.0f}",
            f"{said.late_share:.2%}", f"{said.lag_growth_ms:.0f}", f"{alone:.2%}",
            f"{self.switching.changes}", f"{self.switching.refused_changes}", f"{self.files}",
            f"{memory[0]:.0f}, {max(memory):.0f}, {memory[-1]:.0f}",
            f"{handles[0]}, {handles[-1]}",
        ]  # fmt: skip


class Load:
    """Live streams against one server, beside some that name no model."""

    def __init__(self, target: Target, pid: int, streams: int) -> None:
        self._target = target
        self._pid = pid
        self._streams = streams

    async def run(
        self,
        duration_s: float,
        clips: Sequence[Clip],
        alone: dict[str, str],
        models: Models | None = None,
    ) -> Run:
        """Speak; models: those to switch between, None for nobody to name any.

        Raises SystemExit where a stream has failed.
        """
        room = Room(self._pid)
        beside = [asyncio.create_task(room.watch())]
        files = models.changed if models else 0
        if models:
            beside.append(asyncio.create_task(models.come_and_go()))
        others, switching = await asyncio.gather(
            run_load(self._target, clips, alone, OTHERS, duration_s, SEED),
            run_load(
                self._target, clips, alone, self._streams, duration_s, SEED + OTHERS,
                lambda index: self._switching(models.names, index) if models else iter(()),
            ),
        )  # fmt: skip
        for task in beside:
            task.cancel()
        if failures := others.failures + switching.failures:
            raise SystemExit(f"{len(failures)} failures: {failures[0]}")
        return Run(others, switching, models.changed - files if models else 0, room)

    def _switching(self, names: Sequence[str], index: int) -> Iterator[Change]:
        """A model, or the graph's own mixed with one, or none again, every few seconds."""
        chance, at_s = random.Random(SEED + index), EVERY_S * index / self._streams
        while True:
            name = chance.choice(names)
            lm = chance.choice((name, f"on:0.7,{name}:0.3", f"on:0.5,{name}:0.5", "on"))
            yield Change(at_s, json.dumps({"type": "Configure", "lm": lm}))
            at_s += EVERY_S


def build_models(folder: Path, text: Path, general: Path) -> None:
    """Some general models, which are one, and tenants' models of some sentences of a text each."""
    folder.mkdir()
    for number in range(GENERAL):
        shutil.copyfile(general, folder / f"general-{number}.lm")
    sentences = list(islice(read_sentences(text), SENTENCES))
    chance = random.Random(SEED)
    for number in range(3 * len(TENANT_SENTENCES) - 3):
        count = TENANT_SENTENCES[number % len(TENANT_SENTENCES)]
        start = chance.randrange(len(sentences) - count)
        source = folder / "tenant.txt"
        source.write_text("\n".join(map(" ".join, sentences[start : start + count])))
        earshot(["lm", "build", str(source), "--out", str(folder / f"tenant-{number}.lm")])
        source.unlink()


def _resident_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    kb = [int(line.split()[1]) for line in lines if line.startswith("VmRSS:")]
    return sum(kb) / 1024


def _handles(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0


async def measured(asked: argparse.Namespace, target: Target, pid: int, models: Models) -> str:
    """Both runs, as a table."""
    clips = load_clips(SHARED / "speech" / "dev.tsv", CLIPS, SEED)
    alone = await texts_alone(target, clips, lambda _: None)
    load = Load(target, pid, asked.streams)
    still = await load.run(asked.seconds_before, clips, alone)
    switched = await load.run(asked.seconds, clips, alone, models)
    return table(HEADER, [still.line("no models"), switched.line("switched")])


def main() -> None:
    """Run it and print, or write, the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("general", type=Path, help="image of a large model")
    parser.add_argument("--text", type=Path, default=SHARED / "text" / "books.txt.xz")
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=1800.0, help="with changes")
    parser.add_argument("--seconds-before", type=float, default=600.0, help="without")
    parser.add_argument("--write", action="store_true", help="the page")
    parser.add_argument(
        "--server", nargs=argparse.REMAINDER, default=[], help="its flags: the last"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        build_models(folder / "kept", asked.text, asked.general)
        (folder / "lms").mkdir()
        models = Models(folder / "lms", folder / "kept")
        command = [
            sys.executable, "-m", "earshot.service", "serve", "--port", str(port),
            "--lm-dir", str(models.folder), *asked.server,
        ]  # fmt: skip
        with server_process(command, port, folder) as pid:
            target = Target(f"http://127.0.0.1:{port}")
            found = asyncio.run(measured(asked, target, pid, models))
    about = below_claim(__doc__)
    minutes = f"{asked.seconds_before / 60:g} and {asked.seconds / 60:g} minutes"
    said = f"{asked.streams} streams and {OTHERS}, {minutes}, {len(models.names)} models"
    flags = " ".join(asked.server) or "none"
    body = f"{about}\n\n{said}; server flags: {flags}.\n\n{found}\n"
    show_report(
        "switched_models", "Language models switched under load", body, is_written=asked.write
    )


if __name__ == "__main__":
    main()
