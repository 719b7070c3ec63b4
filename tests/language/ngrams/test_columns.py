"""Columns on the disk: what is in memory is what is there, and nothing is left behind."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from earshot.decoder_kernels.errors import LanguageModelError
from earshot.language.ngrams.columns import (
    BYTES_OF_A_ROW,
    Columns,
    MappedColumns,
    groups,
    parts,
)

ROWS = np.arange(10, dtype=np.int32)


@pytest.fixture(params=["memory", "disk"])
def columns(request: pytest.FixtureRequest, tmp_path: Path) -> Columns:
    return Columns(3) if request.param == "memory" else MappedColumns(tmp_path, 3 * BYTES_OF_A_ROW)


def test_a_column_has_the_rows_that_were_added(columns: Columns) -> None:
    growing = columns.growing(np.int32)
    for part in (ROWS[:4], ROWS[4:4], ROWS[4:]):
        growing.add(part)
    whole = growing.whole()
    columns.rest()
    assert (whole.dtype, whole.tolist()) == (np.int32, ROWS.tolist())


def test_rows_that_were_set_stay_where_memory_is_given_back(columns: Columns) -> None:
    filled = columns.filled(10, -1.0, np.float64)
    filled[[7, 2]] = 5.0
    columns.rest()
    assert filled.tolist() == [-1.0, -1.0, 5.0, -1.0, -1.0, -1.0, -1.0, 5.0, -1.0, -1.0]


def test_columns_may_have_no_rows(columns: Columns) -> None:
    assert len(columns.growing(np.int32).whole()) == len(columns.filled(0, 1.0, np.int32)) == 0


def test_files_have_no_names(tmp_path: Path) -> None:
    columns = MappedColumns(tmp_path, 1 << 20)
    begun = columns.growing(np.int32)
    begun.add(ROWS)
    whole = columns.filled(1000, 1.0, np.float64)
    assert list(tmp_path.iterdir()) == []
    assert len(whole) == 1000


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_files_are_closed_with_their_columns(tmp_path: Path) -> None:
    before = open_files()
    columns = MappedColumns(tmp_path, 1 << 20)
    given_up, held = columns.growing(np.int32), columns.filled(10, 1.0, np.int32)
    given_up.add(ROWS)
    assert open_files() > before
    del given_up, held
    assert open_files() == before


def test_a_full_disk_is_named_before_anything_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*place: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(LanguageModelError, match=f"columns in {tmp_path}: No space left"):
        MappedColumns(tmp_path, 1 << 20).filled(10, 0.0, np.int32)


def test_a_disk_that_fills_up_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = MappedColumns(tmp_path, 1 << 20)
    with Path("/dev/full").open("r+b", buffering=0) as full:
        monkeypatch.setattr(columns, "file", lambda: full)
        with pytest.raises(LanguageModelError, match="No space left"):
            columns.growing(np.int32).add(ROWS)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    columns = MappedColumns(tmp_path / "nowhere", 1 << 20)
    for make in (lambda: columns.growing(np.int32), lambda: columns.filled(1, 0.0, np.int32)):
        with pytest.raises(LanguageModelError, match="nowhere: No such file"):
            make()


def test_parts_cover_all_rows() -> None:
    assert [range(10)[part] for part in parts(10, 4)] == [range(4), range(4, 8), range(8, 10)]
    assert list(parts(0, 4)) == []


def test_groups_part_no_equal_values() -> None:
    values = np.array([0, 0, 0, 1, 2, 2, 5], np.int32)
    found = [values[part].tolist() for part in groups(values, 2)]
    assert found == [[0, 0, 0], [1, 2, 2], [5]]
    assert [values[part].tolist() for part in groups(values, 100)] == [values.tolist()]
    assert list(groups(values[:0], 2)) == []
