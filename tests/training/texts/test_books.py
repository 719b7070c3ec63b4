"""Books made one text that says nothing of what models are measured on, and none twice."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from earshot.training.__main__ import main
from earshot.training.errors import CorpusError
from earshot.training.texts.books import Shelf, write_books

HEAD = "# Title: {title}\n\n## Author: Ann\n\n## Year: {year}\n\n-------\n"
TEST_SENTENCE = "it was the first of the seven hills that we had climbed"
NEXT_SENTENCE = "and none of us had breath enough to say so to the guide"


def put(folder: Path, title: str, text: str, year: object = 1901) -> None:
    (folder / "Ann").mkdir(parents=True, exist_ok=True)
    book = HEAD.format(title=title, year=year) + text
    (folder / "Ann" / f"{title}.md").write_text(book, encoding="utf-8")


def written(shelf: Shelf, output: Path) -> tuple[str, list[str]]:
    """The text, and what was left out."""
    told: list[str] = []
    write_books(shelf, output, told.append)
    return lzma.open(output, "rt", encoding="utf-8").read(), told


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "dev.tsv"
    columns = "path\tcorpus\tspeaker\tseconds\ttext\tslots"
    row = f"a.opus\tbooks\tann\t3.0\t{TEST_SENTENCE} {NEXT_SENTENCE}\t"
    path.write_text(f"{columns}\n{row}\n", encoding="utf-8")
    return path


def test_a_paragraph_is_a_line_without_marks(tmp_path: Path) -> None:
    text = (
        "## CHAPTER I\n\n_A list_ of **old**\nthings [of his](x.md), <br>\n\n---\n\n> said *he*.\n"
    )
    put(tmp_path / "in", "Things", text)
    said, told = written(Shelf(tmp_path / "in"), tmp_path / "books.txt.xz")
    assert said.splitlines() == ["CHAPTER I", "A list of old things of his,", "said he."]
    assert told == []


def test_books_are_left_out_by_year_and_by_name(tmp_path: Path) -> None:
    put(tmp_path, "Old", "old words", 1850)
    put(tmp_path, "Ancient", "older words", -380)
    put(tmp_path, "New", "new words", 1930)
    put(tmp_path, "Undated", "words", "")
    put(tmp_path, "Unwanted", "words")
    shelf = Shelf(tmp_path, leave_out=("*/Unw?nted",))
    said, told = written(shelf, tmp_path / "books.txt.xz")
    assert said.splitlines() == ["older words", "old words"]
    assert told == [
        "left out Ann/New: written in 1930",
        "left out Ann/Undated: its head names no year",
        "left out Ann/Unwanted: as asked",
    ]


def test_books_in_plain_text_are_taken_where_all_are_free(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "folder.txt").mkdir(parents=True)
    (folder / "Ann___Town.txt").write_text(
        "of the _old_\ntown\n\nEnd of Project Gutenberg's Town\n"
    )
    said, told = written(Shelf(folder, undated=True), tmp_path / "books.txt.xz")
    assert said.splitlines() == ["of the old town"]
    assert told == []
    with pytest.raises(CorpusError, match="no book below"):
        write_books(Shelf(folder), tmp_path / "dated.txt.xz", print)


def test_no_book_is_taken_twice(tmp_path: Path) -> None:
    first, second = TEST_SENTENCE, NEXT_SENTENCE
    put(tmp_path / "old", "Hills", f"{first}\n\n{second}\n\nshort")
    old = tmp_path / "old.txt.xz"
    write_books(Shelf(tmp_path / "old"), old, print)
    new = "nobody had told us that the house was as old as the hills"
    put(tmp_path / "new", "Again", f"{first.upper()}!\n\n{second}\n\n{new}")
    put(tmp_path / "new", "Half", f"{first}\n\n{new}")
    put(tmp_path / "new", "Same", f"{first}\n\n{new}")
    put(tmp_path / "new", "Tiny", "short")
    shelf = Shelf(tmp_path / "new", beyond=(old,))
    said, told = written(shelf, tmp_path / "new.txt.xz")
    assert said.splitlines() == [first, new, "short"]
    assert told == [
        "left out Ann/Again: 2 of 3 paragraphs are known",
        "left out Ann/Same: 2 of 2 paragraphs are known",
    ]
    with pytest.raises(CorpusError, match="cannot read"):
        write_books(Shelf(tmp_path / "new", beyond=(tmp_path / "none",)), old, print)


def test_a_book_that_says_the_test_is_left_out(tmp_path: Path, manifest: Path) -> None:
    put(tmp_path, "Test", "It was the first of the *seven* hills\nthat we had CLIMBED!")
    put(tmp_path, "Half", " ".join(TEST_SENTENCE.split()[:10]))
    put(tmp_path, "Other", "it was the last of the seven hills that we had climbed")
    shelf = Shelf(tmp_path, unlike=manifest)
    said, told = written(shelf, tmp_path / "books.txt.xz")
    assert told == ["left out Ann/Test: it shares 3 runs of words"]
    assert len(said.splitlines()) == 2


def test_what_cannot_be_used_is_a_clear_error(
    tmp_path: Path, manifest: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "in", "New", "words", 1999)
    arguments = ["--unlike", str(manifest), "--output", str(tmp_path / "out" / "books.txt.xz")]
    assert main(["books", str(tmp_path / "in"), *arguments]) == 1
    assert "no book below" in capsys.readouterr().err
    assert not list((tmp_path / "out").iterdir())
    with pytest.raises(CorpusError, match="there is no book"):
        write_books(Shelf(tmp_path / "out"), tmp_path / "books.txt.xz", print)
    with pytest.raises(CorpusError, match="cannot write"):
        write_books(Shelf(tmp_path / "in", until=2000), manifest / "books.txt.xz", print)
