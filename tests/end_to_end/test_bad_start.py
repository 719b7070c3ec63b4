"""A server that cannot start says why in one line and fails."""

import shlex
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from server_process import earshot


def fails(*flags: str) -> str:
    """Run `earshot serve`, expect it to fail, return what it said."""
    run = subprocess.run(
        earshot("serve", "--port", "0", *flags), capture_output=True, text=True, timeout=120
    )
    assert run.returncode != 0
    assert "Traceback" not in run.stderr
    return run.stderr


@pytest.fixture
def model_dir(golden_model_dir: Path, tmp_path: Path) -> Path:
    """A copy of the golden model that a test may break."""
    copy = tmp_path / "model"
    shutil.copytree(golden_model_dir, copy, copy_function=shutil.copyfile)
    copy.chmod(0o755)
    return copy


def test_zip_as_a_checkpoint_is_named(model_dir: Path) -> None:
    with zipfile.ZipFile(model_dir / "final.pt", "w") as archive:
        archive.writestr("holiday.txt", "not a checkpoint")
    assert "final.pt" in fails("--model", str(model_dir))


def test_truncated_checkpoint_is_named(model_dir: Path) -> None:
    whole = (model_dir / "final.pt").read_bytes()
    (model_dir / "final.pt").write_bytes(whole[: len(whole) // 2])
    assert "final.pt" in fails("--model", str(model_dir))


def test_missing_model_directory_is_named(tmp_path: Path) -> None:
    assert "nowhere" in fails("--model", str(tmp_path / "nowhere"))


def test_more_streams_than_memory_holds_are_refused_in_one_line() -> None:
    limit = f"ulimit -v {8 << 20}; exec {shlex.join(earshot('serve', '--port', '0'))}"
    run = subprocess.run(
        ["bash", "-c", f"{limit} --max-streams 10000"], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert "not enough memory for 10000 streams" in run.stderr


def test_unknown_device_is_refused() -> None:
    assert "device" in fails("--device", "abacus")
