"""Books in markdown, made one text for language models: `python -m models.training books`.

None of them may say what models are measured on: a language model that has read the test knows it.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tqdm import tqdm

from models.training.corpus import normalise_text, read_speech
from models.training.errors import CorpusError

RUN_WORDS = 10
"""So many words in a row that two texts share were hardly written twice."""
LAST_FREE_YEAR = 1929
"""Of what was published until then the copyright of the USA has ended."""
MOST_RUNS_SHARED = 1  # a verse of the Bible, a saying
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
Run = tuple[str, ...]


@dataclass(frozen=True)
class Shelf:
    """Books in markdown below `folder`, each with a line `## Year: 1813`.

    until: the last year of which books are taken.
    leave_out: patterns of paths without their suffix, as in a shell.
    unlike: manifest of what no book may say.
    """

    folder: Path
    until: int = LAST_FREE_YEAR
    leave_out: Sequence[str] = ()
    unlike: Path | None = None

    def books(self, tell: Callable[[str], object]) -> Iterator[list[str]]:
        """The paragraphs of each book that may be taken; `tell` hears of the others, and why.

        Raises CorpusError if there is no book, or one cannot be read.
        """
        paths = sorted(self.folder.rglob("*.md"))
        if not paths:
            raise CorpusError(f"there is no book (*.md) below {self.folder}")
        forbidden = _runs_of_manifest(self.unlike) if self.unlike else frozenset()
        for path in tqdm(paths, desc="books", unit="book"):
            name = path.relative_to(self.folder).with_suffix("").as_posix()
            text = _read(path)
            paragraphs = _paragraphs(text)
            why = self._refusal(name, text) or _likeness(paragraphs, forbidden)
            if why:
                tell(f"left out {name}: {why}")
            else:
                yield paragraphs

    def _refusal(self, name: str, text: str) -> str:
        if any(fnmatchcase(name, pattern) for pattern in self.leave_out):
            return "as asked"
        year = _YEAR.search(text[:HEAD_CHARACTERS])
        if year is None:
            return "its head names no year"
        return f"written in {year[1]}" if int(year[1]) > self.until else ""


def write_books(shelf: Shelf, output: Path, tell: Callable[[str], object]) -> int:
    """Writes the books to `output`, an xz file of a paragraph a line; returns how many.

    Raises CorpusError where nothing can be read or written, or no book is left.
    """
    count = 0
    unfinished = output.with_name(f"{output.name}.part")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with lzma.open(unfinished, "wt", encoding="utf-8", preset=1) as text:
            for paragraphs in shelf.books(tell):
                text.writelines(f"{paragraph}\n" for paragraph in paragraphs)
                count += 1
        if not count:
            raise CorpusError(f"no book below {shelf.folder} is left")
        unfinished.replace(output)
    except OSError as error:
        raise CorpusError(f"cannot write {output}: {error}") from error
    finally:
        if unfinished.is_file():
            unfinished.unlink()
    return count


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error}") from error


def _paragraphs(markdown: str) -> list[str]:
    plain = _MARKS.sub("", markdown)
    joined = (" ".join(each.split()) for each in re.split(r"\n\s*\n", plain))
    return [paragraph for paragraph in joined if paragraph]


def _runs_of_manifest(manifest: Path) -> frozenset[Run]:
    return frozenset(run for each in read_speech(manifest) for run in _runs(each.text))


def _runs(text: str) -> Iterator[Run]:
    words = normalise_text(text).split()
    return zip(*(words[start:] for start in range(RUN_WORDS)), strict=False)


def _likeness(paragraphs: Sequence[str], forbidden: frozenset[Run]) -> str:
    """Why a book says too much of what none may say, or nothing."""
    if not forbidden:
        return ""
    shared = sum(run in forbidden for run in _runs(" ".join(paragraphs)))
    return f"it shares {shared} runs of words" if shared > MOST_RUNS_SHARED else ""
