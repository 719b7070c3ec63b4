"""What files hold besides a book, and how its letters are stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from earshot.training.errors import CorpusError
from earshot.training.texts.book_text import paragraphs, read_book, year_of


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_letters_are_read_in_either_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "book.txt"
    path.write_bytes("Cafés\r\nof old".encode(encoding))
    assert read_book(path) == "Cafés\nof old"


def test_a_book_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"cannot read .*none\.txt"):
        read_book(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        (
            "Title: Town\n*** START OF THIS PROJECT GUTENBERG EBOOK TOWN ***",
            "*** END OF THIS PROJECT GUTENBERG EBOOK TOWN ***\n\nSection 1. General Terms",
        ),
        (
            "***START OF THE PROJECT GUTENBERG EBOOK***",
            "End of the Project Gutenberg EBook of Town",
        ),
        ("", ""),
    ],
)
def test_what_project_gutenberg_puts_around_a_book_falls_away(before: str, behind: str) -> None:
    text = f"{before}\n\nEnd of\nthe _day_\n\n\n*Night*\n\n{behind}\n"
    assert paragraphs(text) == ["End of the day", "Night"]


def test_the_year_stands_at_the_head() -> None:
    assert year_of("# Title: Town\n\n## Year: 1813\n") == 1813
    assert year_of("## Year: -380\n") == -380
    assert year_of("The year 1813") is None
