"""Manifests of transcribed speech, and of noise."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from earshot.language.text.transcript_text import ENGLISH
from earshot.training.corpus.kaldi_folder import read_kaldi_folder
from earshot.training.corpus.transcripts import transcripts
from earshot.training.corpus.utterance import Utterance
from earshot.training.errors import CorpusError

MANIFEST_FILE = "manifest.tsv"
MANIFEST_COLUMNS = ("path", "corpus", "speaker", "seconds", "text", "slots")
CORPUS_NAME = re.compile(r"[\w-]+")  # of what is made: nothing that a table or a path minds


def manifest_writer(output: IO[str]) -> Any:
    """Writes rows as `read_speech` reads them; text is never quoted."""
    return csv.writer(
        output, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None
    )


def _rows(manifest: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Rows with as many values as the header has names. Raises CorpusError."""
    try:
        with manifest.open(encoding="utf-8", newline="") as lines:
            reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            header = next(reader, [])
            rows = [(reader.line_num, row) for row in reader if row]
    except FileNotFoundError as error:
        raise CorpusError(f"no manifest at {manifest}") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CorpusError(f"cannot read {manifest}: {error}") from error
    if missing := set(columns) - set(header):
        raise CorpusError(f"{manifest} lacks the columns {', '.join(sorted(missing))}")
    for line, row in rows:
        if len(row) != len(header):
            raise CorpusError(f"{manifest}, line {line}: {len(row)} values for {len(header)} names")
    if not rows:
        raise CorpusError(f"{manifest} names no recording")
    return [dict(zip(header, row, strict=True)) for _, row in rows]


def _seconds(manifest: Path, row: Mapping[str, str]) -> float:
    try:
        seconds = float(row["seconds"])
    except ValueError:
        seconds = math.nan
    if not 0.0 < seconds < math.inf:
        raise CorpusError(f"{manifest}: {row['path']} cannot last {row['seconds']!r} seconds")
    return seconds


def read_speech(manifest: Path, language: str = ENGLISH) -> list[Utterance]:
    """Utterances of a manifest: tab-separated path, corpus, speaker, seconds and text.

    Or of a folder as Kaldi has them (`read_kaldi_folder`). Raises CorpusError if the manifest is
    missing, is no table, lacks a column or has no row, or where many texts lose letters
    (`transcripts`).
    """
    if manifest.is_dir():
        return read_kaldi_folder(manifest, language)
    rows = _rows(manifest, ("path", "corpus", "speaker", "seconds", "text"))
    said = transcripts(manifest, [row["text"] for row in rows], language)
    return [
        Utterance(
            manifest.parent / row["path"],
            row["corpus"],
            row["speaker"],
            _seconds(manifest, row),
            text,
        )
        for row, text in zip(rows, said, strict=True)
    ]


def _read_sounds(manifest: Path, kind: str) -> list[Utterance]:
    rows = _rows(manifest, ("path", "kind", "set", "seconds"))
    return [
        Utterance(manifest.parent / row["path"], kind, row["set"], _seconds(manifest, row), "")
        for row in rows
        if row["kind"] == kind
    ]


def read_noise(manifest: Path) -> list[Utterance]:
    """Noise recordings of a manifest: tab-separated path, kind, set and seconds.

    Room responses are left out. Raises CorpusError like `read_speech`.
    """
    return _read_sounds(manifest, "noise")


def read_rooms(manifest: Path, sets: Collection[str]) -> list[Utterance]:
    """Room responses of the named sets in a manifest of noise.

    Raises CorpusError like `read_speech`, and for a set that is not there.
    """
    rooms = [room for room in _read_sounds(manifest, "rir") if room.speaker in sets]
    missing = set(sets) - {room.speaker for room in rooms}
    if missing:
        raise CorpusError(f"{manifest} has no room responses of {', '.join(sorted(missing))}")
    return rooms
