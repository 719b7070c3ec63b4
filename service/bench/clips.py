"""Utterances to speak to the server."""

import csv
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earshot.service.audio.file_reader import AudioFile
from earshot.service.errors import ServiceError, StartupError

RATE_HZ = 16_000
BYTES_PER_SECOND = 2 * RATE_HZ


@dataclass(frozen=True)
class Clip:
    """One utterance as 16 kHz linear16; `text` is what was said, if that is known."""

    name: str
    pcm: bytes
    text: str | None = None

    @property
    def duration_s(self) -> float:
        """Its length."""
        return len(self.pcm) / BYTES_PER_SECOND


def load_clips(source: Path, count: int, seed: int) -> list[Clip]:
    """Load up to ``count`` clips, drawn at random, of a directory, a TSV or a samples.json.

    A TSV has a header with `path` (relative to it) and, if known, `text`.

    Raises:
        StartupError: there is no such source, or nothing in it can be read.
    """
    entries = _entries(source)
    random.Random(seed).shuffle(entries)
    clips: list[Clip] = []
    for path, text in entries:
        if len(clips) == count:
            break
        try:
            clips.append(Clip(str(path), _read(path), text))
        except (ServiceError, OSError):
            continue  # not audio: a directory may hold other files
    if not clips:
        raise StartupError(f"--audio {source}: no audio there")
    return clips


def playlist(clips: Sequence[Clip], seed: int) -> Iterator[Clip]:
    """Yield clips for ever, each round in a new order."""
    order = random.Random(seed)
    while True:
        yield from order.sample(clips, len(clips))


def _entries(source: Path) -> list[tuple[Path, str | None]]:
    if source.is_dir():
        return [(path, None) for path in sorted(source.rglob("*")) if path.is_file()]
    if not source.is_file():
        raise StartupError(f"--audio {source}: there is no such file or directory")
    rows = _json_rows(source) if source.suffix == ".json" else _tsv_rows(source)
    return [
        (source.parent / (row.get("path") or row["file"]), row.get("text") or None)
        for row in rows
        if row.get("path") or row.get("file")
    ]


def _json_rows(source: Path) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = json.loads(source.read_text(encoding="utf-8"))
    return rows


def _tsv_rows(source: Path) -> list[dict[str, str]]:
    with source.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _read(path: Path) -> bytes:
    samples = np.concatenate(list(AudioFile(path, RATE_HZ).blocks()))
    return np.round(samples * 32767).astype("<i2").tobytes()
