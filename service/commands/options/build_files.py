"""Files that the building commands read and write."""

from collections.abc import Sequence
from pathlib import Path

from earshot.service.errors import StartupError


def read_words(path: Path) -> list[str]:
    """The first word of each line. Raises StartupError."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise StartupError(f"build: --words {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise StartupError(f"build: --words {path} is not UTF-8 text") from error
    return [fields[0] for fields in map(str.split, lines) if fields]


def require_place(path: Path, inputs: Sequence[Path | None], called: str = "--out") -> None:
    """Known before the work, not after it; none of the inputs is it. Raises StartupError.

    What is written takes the place of what has the name: of files, never of pipes and devices.
    called: as the command line calls it.
    """
    if path.is_dir():
        raise StartupError(f"{called} {path} is a directory")
    if path.exists() and not path.is_file():
        raise StartupError(f"{called} {path} is no regular file")
    if not path.parent.is_dir():
        raise StartupError(f"{called} {path}: there is no directory {path.parent}")
    for each in inputs:
        if each is not None and path.exists() and each.exists() and path.samefile(each):
            raise StartupError(f"{called} {path} is an input, and would be lost")


def require_readable(action: str, paths: Sequence[Path]) -> None:
    """Known before the work too: every input can be opened. Raises StartupError."""
    for path in paths:
        try:
            path.open("rb").close()
        except OSError as error:
            raise StartupError(f"{action}: {path.name or path}: {error.strerror}") from error


def require_file(action: str, path: Path) -> None:
    """An input that is mapped: a pipe would be waited for, a device may have no end.

    Raises StartupError.
    """
    if path.exists() and not path.is_file():
        raise StartupError(f"{action}: {path.name or path} is no regular file")
    require_readable(action, [path])
