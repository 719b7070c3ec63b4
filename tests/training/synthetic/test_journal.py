"""What a folder is known to hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from earshot.training.synthetic.errors import FolderTaken, SynthesisError
from earshot.training.synthetic.journal import Entry, Journal

IDENTITY = {"seed": 1, "rate": [0.5, 2.0]}


def test_a_journal_is_read_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path, IDENTITY)
    entries = [Entry.of(0, b"sound", 3), Entry(1, rejected="silent"), Entry.of(0, b"other", 4)]
    for entry in entries:
        journal.add(entry)
    assert Journal(tmp_path, IDENTITY).entries == {0: entries[2], 1: entries[1]}


def test_a_line_that_was_cut_is_forgotten(tmp_path: Path) -> None:
    journal = Journal(tmp_path, IDENTITY)
    for index in range(3):
        journal.add(Entry.of(index, b"sound", 3))
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-4])
    again = Journal(tmp_path, IDENTITY)
    assert set(again.entries) == {0, 1}
    again.add(Entry.of(2, b"sound", 3))
    assert set(Journal(tmp_path, IDENTITY).entries) == {0, 1, 2}


def test_an_entry_knows_its_file(tmp_path: Path) -> None:
    entry = Entry.of(1234, b"sound", 3)
    assert entry.path == Path("audio/0001/0001234.opus")
    assert not entry.holds(tmp_path)
    file = tmp_path / entry.path
    file.parent.mkdir(parents=True)
    for content, held in ((b"sound", True), (b"soun", False), (b"sount", False)):
        file.write_bytes(content)
        assert entry.holds(tmp_path) == held


def test_a_folder_belongs_to_one_plan(tmp_path: Path) -> None:
    Journal(tmp_path, IDENTITY)
    with pytest.raises(FolderTaken, match=r"a plan with other seed$"):
        Journal(tmp_path, {**IDENTITY, "seed": 2})


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(FolderTaken, match="not empty"):
        Journal(tmp_path, IDENTITY)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("plan.json", '{"seed": 1,'), ("journal.jsonl", "[1, 2\n"), ("journal.jsonl", "7\n")],
)
def test_a_damaged_record_is_an_error(tmp_path: Path, name: str, content: str) -> None:
    Journal(tmp_path, IDENTITY)
    (tmp_path / name).write_text(content)
    with pytest.raises(SynthesisError, match="cannot go on in"):
        Journal(tmp_path, IDENTITY)
