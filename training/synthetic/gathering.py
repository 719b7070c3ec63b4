"""Published recordings of one voice, made a corpus: `python -m earshot.training gather`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import soundfile
import soxr

from earshot.language.text.transcript_text import ANY_LANGUAGE, normalise_text
from earshot.training.corpus.manifest import (
    CORPUS_NAME,
    MANIFEST_COLUMNS,
    MANIFEST_FILE,
    manifest_writer,
    read_speech,
)
from earshot.training.errors import CorpusError
from earshot.training.progress_bar import progress_bar
from earshot.training.synthetic.errors import BadRecording
from earshot.training.synthetic.recording import (
    SAMPLE_RATE_HZ,
    Samples,
    at_peak,
    check_length,
    check_sound,
    encode,
)

HEADLESS = {".sln16": (16_000, "PCM_16"), ".gsm": (8_000, "GSM610")}  # Asterisk's
# 162, AC, [beep], *: of those nobody can say how they were read, if they were.
NOT_AS_WRITTEN = re.compile(r"[^\w\s.,;:!?'’\"-]|[\d_]+|[A-Z]{2,}")


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

    def __post_init__(self) -> None:
        for name in ("corpus", "speaker"):
            if not CORPUS_NAME.fullmatch(getattr(self, name)):
                raise CorpusError(f"{name} {getattr(self, name)!r}: letters, digits, - and _ only")

    def named(self) -> Iterator[tuple[str, str]]:
        """Name of each recording that is asked for, and what its text file or the list says.

        Raises CorpusError if there is no folder, or no list.
        """
        if not self.folder.is_dir():
            raise CorpusError(f"there is no folder {self.folder}")
        for name, text in _listed(self.texts) if self.texts else self._beside():
            wanted = any(fnmatchcase(name, each) for each in self.only)
            if wanted and not any(fnmatchcase(name, each) for each in self.leave_out):
                yield name, text

    def _beside(self) -> Iterator[tuple[str, str]]:
        for path in sorted(self.folder.rglob(f"*{self.suffix}")):
            text = path.with_suffix(".txt")
            name = path.relative_to(self.folder).with_suffix("").as_posix()
            yield name, text.read_text(encoding="utf-8", errors="replace") if text.is_file() else ""


def _listed(texts: Path) -> Iterator[tuple[str, str]]:
    try:
        lines = texts.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read {texts}: {error}") from error
    said = (line.partition(":") for line in lines if not line.startswith(";"))
    yield from {name.strip(): text for name, colon, text in said if colon}.items()


def gather(source: Source, out: Path, tell: Callable[[str], object]) -> None:
    """Writes the recordings to `out` as 16 kHz Ogg Opus, and adds them to its manifest.

    `tell` hears what is left out, and why. Raises CorpusError where the corpus has been gathered
    from this speaker before, where nothing can be written, or nothing is left.
    """
    _refuse_twice(source, out / MANIFEST_FILE)
    rows = []
    for name, written in progress_bar(list(source.named()), desc=source.corpus, unit="recording"):
        text = " ".join(written.split())
        place = f"{source.corpus}/{source.speaker}/{name}.opus"
        try:
            _check_text(name, text)
            seconds = _copy(source.folder / f"{name}{source.suffix}", text, out / place)
            rows.append((place, source.corpus, source.speaker, f"{seconds:.2f}", text, ""))
        except BadRecording as error:
            tell(f"left out {name}: {error}")
    if not rows:
        raise CorpusError(f"{source.folder} has no {source.suffix} that can be used")
    _append(rows, out / MANIFEST_FILE)


def _check_text(name: str, text: str) -> None:
    if ".." in name or name.startswith("/"):
        raise BadRecording("it is not below the folder")
    if not text:
        raise BadRecording("nobody says what is said")
    if found := NOT_AS_WRITTEN.search(text):
        raise BadRecording(f"who knows how {found.group()!r} is read")


def _copy(path: Path, text: str, to: Path) -> float:
    """Its seconds. Raises BadRecording, and CorpusError where it cannot be written."""
    samples = read_recording(path)
    seconds = len(samples) / SAMPLE_RATE_HZ
    check_length(seconds, normalise_text(text), rate=1.0)
    sound = encode(samples)
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(sound)
    except OSError as error:
        raise CorpusError(f"cannot write {to}: {error}") from error
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
    return at_peak(samples)


def _refuse_twice(source: Source, manifest: Path) -> None:
    here = read_speech(manifest, ANY_LANGUAGE) if manifest.is_file() else []
    if (source.corpus, source.speaker) in {(each.corpus, each.speaker) for each in here}:
        raise CorpusError(f"{manifest} has {source.corpus} by {source.speaker} already")


def _append(rows: Sequence[tuple[str, ...]], manifest: Path) -> None:
    header = [] if manifest.is_file() else [MANIFEST_COLUMNS]
    with manifest.open("a", encoding="utf-8", newline="") as lines:
        manifest_writer(lines).writerows([*header, *rows])
