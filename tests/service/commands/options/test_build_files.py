"""Where building commands may write."""

import os
from pathlib import Path

import pytest

from earshot.service.commands.options.build_files import require_place
from earshot.service.errors import StartupError


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_what_is_no_file_is_not_replaced(pipe: Path) -> None:
    with pytest.raises(StartupError, match=r"^--out .*/pipe is no regular file$"):
        require_place(pipe, [])


def test_nor_what_a_link_leads_to(pipe: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(pipe)
    with pytest.raises(StartupError, match=r"^OUT\.lm .*/link is no regular file$"):
        require_place(tmp_path / "link", [], called="OUT.lm")


def test_a_file_may_be_replaced_and_a_link_to_one_or_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    for name, leads_to in (("link", "file"), ("loose", "gone")):
        (tmp_path / name).symlink_to(tmp_path / leads_to)
    for name in ("file", "link", "loose", "new"):
        require_place(tmp_path / name, [])
