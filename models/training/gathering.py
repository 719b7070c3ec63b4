"""Published recordings of one voice, made a corpus: `python -m models.training gather`."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import soundfile
import soxr
from tqdm import tqdm

from models.training.corpus import normalise_text
from models.training.errors import CorpusError
from models.training.synthetic.errors import BadRecording
from models.training.synthetic.recording import (
    PEAK,
    SAMPLE_RATE_HZ,
    Samples,
    check_length,
    check_sound,
    encode,
)

MANIFEST = "manifest.tsv"
COLUMNS = ("path", "corpus", "speaker", "seconds", "text", "slots")
HEADLESS = {".sln16": (16_000, "PCM_16"), ".gsm": (8_000, "GSM610")}  # Asterisk's
# 162, AC, [beep], *: of those nobody can say how they were read, if they were.
NOT_AS_WRITTEN = re.compile(r"[^\w\s.,;:!?'’\"-]|[\d_]|[A-Z]{2}")


@dataclass(frozen=True)
class Source:
    """Recordings below `folder`, all by one `speaker`, and where their texts are.

    suffix: of the recordings, like ".wav".
    texts: a file of lines `name: text`; None where a `.txt` lies beside each recording.
    only, leave_out: patterns of names, as in a shell.
    """

    folder: Path
    corpus: str
    speaker: str
    suffix: str = ".wav"
    texts: Path | None = None
    only: Sequence[str] = ("*",)
    leave_out: Sequence[str] = ()

    def named(self) -> Iterator[tuple[str, str]]:
        """Name and text of each recording that is asked for and is read as it is written."""
        for name, text in dict(self._all()).items():
            if ".." in name or name.startswith("/"):
                raise CorpusError(f"{name} is not below {self.folder}")
            wanted = any(fnmatchcase(name, each) for each in self.only)
            unwanted = any(fnmatchcase(name, each) for each in self.leave_out)
            if wanted and not unwanted and text and not NOT_AS_WRITTEN.search(text):
                yield name, text

    def _all(self) -> Iterator[tuple[str, str]]:
        try:
            yield from _beside(self) if self.texts is None else _listed(self.texts)
        except (OSError, UnicodeDecodeError) as error:
            raise CorpusError(f"no text of a recording: {error}") from error


def _beside(source: Source) -> Iterator[tuple[str, str]]:
    for path in sorted(source.folder.rglob(f"*{source.suffix}")):
        text = path.with_suffix(".txt").read_text(encoding="utf-8")
        name = path.relative_to(source.folder).with_suffix("").as_posix()
        yield name, " ".join(text.split())


def _listed(texts: Path) -> Iterator[tuple[str, str]]:
    for line in texts.read_text(encoding="utf-8").splitlines():
        name, colon, text = line.partition(":")
        if colon and not line.startswith(";"):
            yield name.strip(), " ".join(text.split())


def gather(source: Source, out: Path) -> list[str]:
    """Writes the recordings to `out` as 16 kHz Ogg Opus, and adds them to its manifest.

    Returns what was left out, and why. Raises CorpusError where a text is missing, the corpus has
    been gathered from this speaker before, or nothing is left.
    """
    manifest = out / MANIFEST
    _refuse_twice(source, manifest)
    rows, refused = [], []
    for name, text in tqdm(list(source.named()), desc=source.corpus, unit="recording"):
        place = f"{source.corpus}/{source.speaker}/{name}.opus"
        try:
            seconds = _copy(source.folder / f"{name}{source.suffix}", text, out / place)
            rows.append((place, source.corpus, source.speaker, f"{seconds:.2f}", text, ""))
        except BadRecording as error:
            refused.append(f"{name}: {error}")
    if not rows:
        raise CorpusError(f"{source.folder} has no {source.suffix} that has a text")
    _append(rows, manifest)
    return refused


def _copy(path: Path, text: str, to: Path) -> float:
    """Its seconds. Raises BadRecording."""
    samples = read_recording(path)
    seconds = len(samples) / SAMPLE_RATE_HZ
    check_length(seconds, normalise_text(text), rate=1.0)
    sound = encode(samples)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(sound)
    return seconds


def read_recording(path: Path) -> Samples:
    """Mono, 16 kHz, with a peak of one half. Raises BadRecording."""
    options = {}
    if path.suffix in HEADLESS:
        rate, subtype = HEADLESS[path.suffix]
        options = {"format": "RAW", "channels": 1, "samplerate": rate, "subtype": subtype}
    try:
        sound, rate = soundfile.read(path, dtype="float32", always_2d=True, **options)
    except (OSError, soundfile.LibsndfileError) as error:
        raise BadRecording(str(error)) from error
    if not len(sound):
        raise BadRecording("empty")
    samples = np.asarray(soxr.resample(sound.mean(axis=1), rate, SAMPLE_RATE_HZ), np.float32)
    check_sound(samples)
    louder: Samples = samples * np.float32(PEAK / np.abs(samples).max())
    return louder


def _refuse_twice(source: Source, manifest: Path) -> None:
    if not manifest.is_file():
        return
    with manifest.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            if (row["corpus"], row["speaker"]) == (source.corpus, source.speaker):
                raise CorpusError(f"{manifest} has {source.corpus} by {source.speaker} already")


def _append(rows: Sequence[tuple[str, ...]], manifest: Path) -> None:
    header = [] if manifest.is_file() else [COLUMNS]
    with manifest.open("a", encoding="utf-8", newline="") as lines:
        for row in (*header, *rows):
            lines.write("\t".join(row) + "\n")
