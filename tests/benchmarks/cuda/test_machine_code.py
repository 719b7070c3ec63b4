"""Which compiler the machine code is of."""

from pathlib import Path

import pytest

from benchmarks.cuda import machine_code


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the only programs there are."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_without_nvcc_there_is_no_release(programs: Path) -> None:
    assert machine_code.nvcc_release() is None


def test_nvcc_says_its_release(programs: Path) -> None:
    nvcc = programs / "nvcc"
    nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n")
    nvcc.chmod(0o755)
    assert machine_code.nvcc_release() == "12.4"
