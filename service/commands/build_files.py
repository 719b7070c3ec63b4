"""Files that the building commands read and write."""

from pathlib import Path

from service.errors import StartupError


def read_words(path: Path) -> list[str]:
    """The first word of each line. Raises StartupError."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"build: --words {path} cannot be read: {error}") from error
    return [fields[0] for fields in map(str.split, lines) if fields]


def require_place(path: Path) -> None:
    """Known before the work, not after it. Raises StartupError."""
    if not path.parent.is_dir() or path.is_dir():
        raise StartupError(f"--out {path}: there is no such directory, or it is one")
