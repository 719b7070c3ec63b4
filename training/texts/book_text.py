"""Books as files have them, in markdown or plain text, and as paragraphs."""

from __future__ import annotations

import re
from pathlib import Path

from earshot.training.errors import CorpusError

SUFFIXES = (".md", ".txt")
HEAD_CHARACTERS = 600
_YEAR = re.compile(r"^#+ Year: *(-?\d+)", re.MULTILINE)
_MARKS = re.compile(
    r"<[^<>]*>"  # tags and comments
    r"|!\[[^\]]*\]\([^)]*\)"  # pictures
    r"|(?<=\])\([^)]*\)"  # where links lead
    r"|^#+ *(?:(?:Title|Author|Year):.*)?"  # of headings the mark, of the book's head all
    r"|^[-*_ ]{3,}$|^> ?|[*_\[\]\\]",
    re.MULTILINE,
)
_BEFORE = re.compile(r"\A.*^\*\*\* ?START OF TH[^\n]*$", re.MULTILINE | re.DOTALL)
_BEHIND = re.compile(
    r"^(?:\*\*\* ?END OF TH|End of (?:the |this )?Project Gutenberg).*\Z", re.MULTILINE | re.DOTALL
)
"""What Project Gutenberg puts around a book."""


def read_book(path: Path) -> str:
    """The text of a file in UTF-8, or else in Latin-1. Raises CorpusError."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
    return text.replace("\r\n", "\n")


def year_of(text: str) -> int | None:
    """The year that a line `## Year: 1813` at the book's head names, negative before our era."""
    year = _YEAR.search(text[:HEAD_CHARACTERS])
    return None if year is None else int(year[1])


def paragraphs(text: str) -> list[str]:
    """The book's paragraphs, each on a line, without marks and without what surrounds a book."""
    own = _BEHIND.sub("", _BEFORE.sub("", text))
    plain = _MARKS.sub("", own)
    joined = (" ".join(each.split()) for each in re.split(r"\n\s*\n", plain))
    return [paragraph for paragraph in joined if paragraph]
