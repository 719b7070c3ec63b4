"""Books made one text for language models: `python -m earshot.training books`.

None of them may say what models are measured on: a language model that has read the test knows it.
A book that two collections have is taken once.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from earshot.language.text.transcript_text import normalise_text
from earshot.training.corpus.manifest import read_speech
from earshot.training.errors import CorpusError
from earshot.training.progress_bar import progress_bar
from earshot.training.texts.book_text import SUFFIXES, paragraphs, read_book, year_of

RUN_WORDS = 10
"""So many words in a row that two texts share were hardly written twice."""
LAST_FREE_YEAR = 1929
"""Of what was published until then the copyright of the USA has ended."""
MOST_RUNS_SHARED = 1  # a verse of the Bible, a saying
TELLING_WORDS = 10
"""A paragraph that is shorter tells nothing of which book it stands in."""
Run = tuple[str, ...]


@dataclass(frozen=True)
class Shelf:
    """Books below `folder`: markdown, each with a line `## Year: 1813`, and plain text.

    until: the last year of which books are taken.
    undated: whether books that name no year are taken too, for they are known to be free.
    leave_out: patterns of paths without their suffix, as in a shell.
    unlike: manifest of what no book may say.
    beyond: texts made earlier, of which no book is taken again.
    """

    folder: Path
    until: int = LAST_FREE_YEAR
    undated: bool = False
    leave_out: Sequence[str] = ()
    unlike: Path | None = None
    beyond: Sequence[Path] = ()

    def books(self, tell: Callable[[str], object]) -> Iterator[list[str]]:
        """The paragraphs of each book that may be taken; `tell` hears of the others, and why.

        Raises CorpusError if there is no book, or one cannot be read.
        """
        paths = sorted(self._paths())
        if not paths:
            raise CorpusError(f"there is no book (*.md, *.txt) below {self.folder}")
        forbidden = _runs_of_manifest(self.unlike) if self.unlike else frozenset()
        known = KnownParagraphs(self.beyond)
        for path in progress_bar(paths, desc="books", unit="book"):
            name = path.relative_to(self.folder).with_suffix("").as_posix()
            text = read_book(path)
            said: list[str] = []
            why = self._refusal(name, text)
            if not why:
                said = paragraphs(text)
                spoken = [normalise_text(paragraph) for paragraph in said]
                why = _likeness(spoken, forbidden) or known.admit(spoken)
            if why:
                tell(f"left out {name}: {why}")
            else:
                yield said

    def _paths(self) -> Iterator[Path]:
        return (
            path for path in self.folder.rglob("*") if path.suffix in SUFFIXES and path.is_file()
        )

    def _refusal(self, name: str, text: str) -> str:
        if any(fnmatchcase(name, pattern) for pattern in self.leave_out):
            return "as asked"
        year = year_of(text)
        if year is None:
            return "" if self.undated else "its head names no year"
        return f"written in {year}" if year > self.until else ""


class KnownParagraphs:
    """Which paragraphs have been taken, as hashes of their words."""

    def __init__(self, texts: Sequence[Path]) -> None:
        self._hashes: set[int] = set()
        for path in texts:
            try:
                with lzma.open(path, "rt", encoding="utf-8") as lines:
                    self._hashes.update(_telling(map(normalise_text, lines)))
            except (OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
                raise CorpusError(f"cannot read {path}: {error}") from error

    def admit(self, spoken: Sequence[str]) -> str:
        """Remember a book's paragraphs; or say why they are no new book: most of them are known."""
        telling = list(_telling(spoken))
        known = sum(each in self._hashes for each in telling)
        if 2 * known > len(telling):
            return f"{known} of {len(telling)} paragraphs are known"
        self._hashes.update(telling)
        return ""


def write_books(shelf: Shelf, output: Path, tell: Callable[[str], object]) -> int:
    """Writes the books to `output`, an xz file of a paragraph a line; returns how many.

    Raises CorpusError where nothing can be read or written, or no book is left.
    """
    count = 0
    unfinished = output.with_name(f"{output.name}.part")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with lzma.open(unfinished, "wt", encoding="utf-8", preset=1) as text:
            for said in shelf.books(tell):
                text.writelines(f"{paragraph}\n" for paragraph in said)
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


def _telling(spoken: Iterable[str]) -> Iterator[int]:
    """Hashes of paragraphs that are long enough."""
    return (hash(each) for each in spoken if each.count(" ") >= TELLING_WORDS - 1)


def _runs_of_manifest(manifest: Path) -> frozenset[Run]:
    return frozenset(run for each in read_speech(manifest) for run in _runs([each.text]))


def _runs(spoken: Sequence[str]) -> Iterator[Run]:
    words = " ".join(spoken).split()
    return zip(*(words[start:] for start in range(RUN_WORDS)), strict=False)


def _likeness(spoken: Sequence[str], forbidden: frozenset[Run]) -> str:
    """Why a book says too much of what none may say, or nothing."""
    if not forbidden:
        return ""
    shared = sum(run in forbidden for run in _runs(spoken))
    return f"it shares {shared} runs of words" if shared > MOST_RUNS_SHARED else ""
