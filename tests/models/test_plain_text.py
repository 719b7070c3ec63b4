"""Text of plain files, bounded."""

import os
from pathlib import Path

import pytest

from earshot.models.plain_text import FileTooLarge, read_plain_text


def test_all_of_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("é\n", encoding="utf-8")
    assert read_plain_text(path, 3) == "é\n"


def test_a_larger_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("four")
    with pytest.raises(FileTooLarge, match="more than 3 bytes"):
        read_plain_text(path, 3)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x")
    with pytest.raises(OSError, match="no plain file"):
        read_plain_text(tmp_path / "x", 9)


def test_a_device_without_an_end_is_refused() -> None:
    with pytest.raises(OSError, match="no plain file"):
        read_plain_text(Path("/dev/zero"), 9)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        read_plain_text(tmp_path / "x", 9)
