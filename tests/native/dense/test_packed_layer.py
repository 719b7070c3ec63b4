"""A packed layer takes other element types without a change of its own, on each processor."""

import subprocess
from pathlib import Path

import pytest

from earshot.models.native.weights import processors

SOURCE = Path(__file__).with_name("packed_layer_check.cpp")


@pytest.mark.parametrize("processor", processors())
def test_weights_may_be_kept_in_fewer_bits(
    processor: str, repository_dir: Path, tmp_path: Path
) -> None:
    kind = [] if processor == "portable" else [f"-DEARSHOT_{processor.upper()}"]
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
    csrc = repository_dir / "native" / "csrc"
    pool = csrc / "threads" / "thread_pool.cpp"
    program = tmp_path / "check"
    flags = ["-std=c++20", "-O1", *warnings, f"-I{csrc}", "-pthread", *kind]
    flags.append(f"-DEARSHOT_PROCESSOR={processor}")
    subprocess.run(["g++", *flags, SOURCE, pool, "-o", program], check=True)
    done = subprocess.run([program], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
