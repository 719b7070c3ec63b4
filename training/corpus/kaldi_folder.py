"""Folders of speech as Kaldi has them: `wav.scp`, `text` (its documents: "Data preparation")."""

from __future__ import annotations

import math
from pathlib import Path

import soundfile

from earshot.language.text.transcript_text import ENGLISH
from earshot.training.corpus.transcripts import transcripts
from earshot.training.corpus.utterance import Utterance
from earshot.training.errors import CorpusError

RECORDINGS = "wav.scp"
TEXTS = "text"
SPEAKERS = "utt2spk"
DURATIONS_S = "utt2dur"
SEGMENTS = "segments"
UNKNOWN_SPEAKER = "?"


def read_kaldi_folder(folder: Path, language: str = ENGLISH) -> list[Utterance]:
    """Utterances of a folder, a corpus of its name, in the order of `wav.scp`.

    `utt2spk` and `utt2dur` are used where they are; a recording without a line in `text` has no
    transcript. Relative paths are looked for from the folder, and from two above it, where recipes
    run that keep it in `data/NAME`.

    Raises:
        CorpusError: `wav.scp` is missing or no table, names a command instead of a file, or a file
            that is not there or no audio; `text` knows other utterances, or many with letters that
            the language has not; there are `segments`.
    """
    if (folder / SEGMENTS).exists():
        raise CorpusError(
            f"{folder} has {SEGMENTS}: cut its recordings into utterances first "
            "(Kaldi's extract-segments)"
        )
    recordings = _table(folder / RECORDINGS)
    if not recordings:
        raise CorpusError(f"{folder / RECORDINGS} names no recording")
    texts, speakers, durations = (
        _optional(folder / name, recordings) for name in (TEXTS, SPEAKERS, DURATIONS_S)
    )
    said = transcripts(folder / TEXTS, [texts.get(each, "") for each in recordings], language)
    found = []
    for (utterance, named), text in zip(recordings.items(), said, strict=True):
        path = _path(folder, named)
        found.append(
            Utterance(
                path,
                folder.resolve().name,
                speakers.get(utterance, UNKNOWN_SPEAKER),
                _seconds(folder, utterance, durations, path),
                text,
            )
        )
    return found


def _table(path: Path) -> dict[str, str]:
    """The rest of each line by its first word."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
    rows: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        key, *rest = line.split(maxsplit=1)
        if key in rows:
            raise CorpusError(f"{path}, line {number}: {key} is there twice")
        rows[key] = "".join(rest).strip()
    return rows


def _optional(path: Path, recordings: dict[str, str]) -> dict[str, str]:
    rows = _table(path) if path.exists() else {}
    if unknown := sorted(rows.keys() - recordings.keys()):
        raise CorpusError(f"{path}: {RECORDINGS} has no {unknown[0]}")
    return rows


def _path(folder: Path, named: str) -> Path:
    if not named or named.endswith("|"):
        raise CorpusError(
            f"{folder / RECORDINGS}: {named or 'nothing'!r} is no file: "
            "write what a command makes to files first (Kaldi's wav-copy)"
        )
    places = [folder / named, folder.resolve().parent.parent / named]
    for place in places:
        if place.is_file():
            return place
    raise CorpusError(f"{folder / RECORDINGS}: there is no {' or '.join(map(str, places))}")


def _seconds(folder: Path, utterance: str, durations: dict[str, str], path: Path) -> float:
    told = durations.get(utterance)
    if told is None:
        return _measured_s(path)
    try:
        seconds = float(told)
    except ValueError:
        seconds = math.nan
    if not 0.0 < seconds < math.inf:
        raise CorpusError(f"{folder / DURATIONS_S}: {utterance} cannot last {told!r} seconds")
    return seconds


def _measured_s(path: Path) -> float:
    try:
        seconds = float(soundfile.info(path).duration)
    except soundfile.SoundFileError as error:
        raise CorpusError(f"{path} is no audio: {error}") from error
    if not seconds > 0.0:
        raise CorpusError(f"{path} has no sound")
    return seconds
