"""The card that is told of a model."""

from pathlib import Path

import pytest

from earshot.models.bundled import bundled_model_dir
from earshot.service.core.model_card import MOST_BYTES, read_card


def test_a_directory_has_its_own(tmp_path: Path) -> None:
    assert read_card(tmp_path) is None
    (tmp_path / "CARD.md").write_text("hears knocks")
    assert read_card(tmp_path) == "hears knocks"


def test_a_file_has_that_of_its_name_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "CARD.md").write_text("of another")
    (tmp_path / "big.nemo").touch()
    assert read_card(tmp_path / "big.nemo") is None
    (tmp_path / "big.md").write_text("hears much")
    assert read_card(tmp_path / "big.nemo") == "hears much"


def test_the_bundled_model_has_one() -> None:
    assert "## What it can do" in (read_card(bundled_model_dir()) or "")


def test_one_that_is_too_long_is_named_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "CARD.md").write_bytes(b"x" * (MOST_BYTES + 1))
    assert read_card(tmp_path) is None
    assert "is longer than" in caplog.text


def test_one_that_cannot_be_read_keeps_no_server_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "CARD.md").write_text("hears knocks")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert read_card(tmp_path) is None
    assert "cannot be read: Permission denied" in caplog.text


def test_bytes_of_another_encoding_are_shown_as_far_as_they_can_be(tmp_path: Path) -> None:
    (tmp_path / "CARD.md").write_bytes(b"caf\xe9")
    assert read_card(tmp_path) == "caf\ufffd"
