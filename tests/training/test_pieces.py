"""Folders in pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earshot.training.errors import BrokenPieces
from earshot.training.pieces import cut, folder_files, join, missing, read_table

LIMIT = 5000


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    noise = np.random.default_rng(1).bytes(23_000)
    (folder / "below" / "large").write_bytes(noise)
    (folder / "small").write_text("text", encoding="utf-8")
    (folder / "empty").touch()
    cut(folder_files(folder), tmp_path / "pieces", LIMIT)
    return tmp_path / "pieces"


def test_pieces_are_no_larger_than_asked(packed: Path) -> None:
    sizes = [path.stat().st_size for path in sorted(packed.glob("piece-*"))]
    assert sizes[:-1] == [LIMIT] * (len(sizes) - 1)
    assert 0 < sizes[-1] <= LIMIT
    assert [piece.size for piece in read_table(packed)] == sizes


def test_what_was_cut_can_be_joined(packed: Path, tmp_path: Path) -> None:
    join(packed, tmp_path / "joined")
    expected = folder_files(tmp_path / "folder")
    found = folder_files(tmp_path / "joined")
    assert found.keys() == expected.keys() == {"below/large", "small", "empty"}
    for name, path in found.items():
        assert path.read_bytes() == expected[name].read_bytes()


def test_cutting_again_leaves_no_old_pieces(packed: Path, tmp_path: Path) -> None:
    cut({"small": tmp_path / "folder" / "small"}, packed, LIMIT)
    assert [path.name for path in packed.glob("piece-*")] == ["piece-000"]


def test_what_is_still_to_come_is_named(packed: Path, tmp_path: Path) -> None:
    (packed / "piece-001").unlink()
    (packed / "piece-003").write_bytes(b"half")
    assert missing(packed) == ["piece-001", "piece-003"]
    with pytest.raises(BrokenPieces, match="piece-001, piece-003"):
        join(packed, tmp_path / "joined")


def test_a_damaged_piece_is_named_before_anything_is_written(packed: Path, tmp_path: Path) -> None:
    damaged = bytearray((packed / "piece-002").read_bytes())
    damaged[7] ^= 1
    (packed / "piece-002").write_bytes(damaged)
    with pytest.raises(BrokenPieces, match="piece-002 is damaged"):
        join(packed, tmp_path / "joined")
    assert not (tmp_path / "joined").exists()


@pytest.mark.parametrize("table", ["[1]", "{", '[{"name": "x"}]'])
def test_a_broken_table_is_refused(packed: Path, table: str) -> None:
    (packed / "pieces.json").write_text(table, encoding="utf-8")
    with pytest.raises(BrokenPieces, match="table of pieces"):
        missing(packed)


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "below/../../outside"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("text", encoding="utf-8")
    cut({name: tmp_path / "file"}, tmp_path / "pieces", LIMIT)
    with pytest.raises(BrokenPieces, match="cannot be unpacked"):
        join(tmp_path / "pieces", tmp_path / "joined", lambda packed: name)
    assert not (tmp_path / "outside").exists()
