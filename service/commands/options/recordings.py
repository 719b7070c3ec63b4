"""The recordings that a command line names, and where their texts go: checked before all else."""

from collections.abc import Sequence
from pathlib import Path

from earshot.service.audio.containers import SNIFF_BYTES, sniff
from earshot.service.audio.file_reader import AudioFile
from earshot.service.errors import ServiceError, StartupError

STANDARD_INPUT = Path("-")
_ANY_RATE_HZ = 16_000


def recordings_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files, each folder replaced by the audio files in it, by name.

    Raises:
        StartupError: a folder has none, or cannot be read.
    """
    return [file for path in paths for file in ([path] if not path.is_dir() else _within(path))]


def reason_against(path: Path) -> str | None:
    """Why a file cannot be transcribed, as far as its header says; None where it can."""
    if path == STANDARD_INPUT:
        return None
    try:
        AudioFile(path, _ANY_RATE_HZ)
    except ServiceError as error:
        return str(error)
    return None


def make_output_dir(directory: Path, files: Sequence[Path]) -> None:
    """Make a folder for one text of each file.

    Raises:
        StartupError: two would have the same name, or the folder cannot be made.
    """
    if STANDARD_INPUT in files:
        raise StartupError("--output-dir: standard input has no name to write to")
    first: dict[str, Path] = {}
    for path in files:
        other = first.setdefault(path.stem, path)
        if other != path:
            raise StartupError(f"--output-dir: {other} and {path} would write the same file")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartupError(f"--output-dir {directory}: {error.strerror}") from error


def _within(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if path.is_file())
        audio = [path for path in found if _is_audio(path)]
    except OSError as error:
        raise StartupError(f"{folder}: cannot be read: {error.strerror}") from error
    if not audio:
        raise StartupError(f"{folder}: there is no audio file in this folder")
    return audio


def _is_audio(path: Path) -> bool:
    with path.open("rb") as file:
        return sniff(file.read(SNIFF_BYTES)) is not None
