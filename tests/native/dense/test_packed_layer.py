"""Packed layers keep their weights in fewer bits, on each kind of processor."""

import subprocess
from pathlib import Path

import pytest

from earshot.models.native.weights import processors

FOLDER = Path(__file__).parent


@pytest.fixture(params=processors())
def check(request, repository_dir: Path, tmp_path: Path):
    """Compiles a program for a kind of processor, runs it, and gives what it complains of."""

    def run(name: str) -> str:
        processor = request.param
        kind = [] if processor == "portable" else [f"-DEARSHOT_{processor.upper()}"]
        warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
        csrc = repository_dir / "native" / "csrc"
        threads = sorted((csrc / "threads").glob("*.cpp"))
        program = tmp_path / name
        flags = ["-std=c++20", "-O1", *warnings, f"-I{csrc}", "-pthread", *kind]
        flags.append(f"-DEARSHOT_PROCESSOR={processor}")
        source = FOLDER / f"{name}.cpp"
        subprocess.run(["g++", *flags, source, *threads, "-o", program], check=True)
        done = subprocess.run([program], text=True, capture_output=True, check=False)
        return done.stderr if done.returncode else ""

    return run


def test_element_types_need_no_change_of_the_layer(check) -> None:
    assert not check("packed_layer_check")


def test_bfloat16_sums_are_a_plain_loops_bit_by_bit(check) -> None:
    assert not check("bfloat16_check")


def test_int8_rows_sums_are_a_plain_loops_bit_by_bit(check) -> None:
    assert not check("int8_rows_check")


def test_int8_sums_are_a_plain_loops_bit_by_bit(check) -> None:
    assert not check("int8_products_check")
