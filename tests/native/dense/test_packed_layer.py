"""Packed layers keep their weights in fewer bits, on each kind of processor."""

import subprocess
from pathlib import Path

import pytest

from earshot.models.native.weights import processors

FOLDER = Path(__file__).parent


class Checks:
    """Programs for a kind of processor, compiled on one library of layers and threads."""

    def __init__(self, processor: str, csrc: Path, folder: Path) -> None:
        kind = [] if processor == "portable" else [f"-DEARSHOT_{processor.upper()}"]
        warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
        self._flags = ["-std=c++20", "-O1", *warnings, f"-I{csrc}", "-pthread", *kind]
        self._flags.append(f"-DEARSHOT_PROCESSOR={processor}")
        self._folder = folder
        sources = [csrc / "dense" / "packed_linear.cpp", *sorted((csrc / "threads").glob("*.cpp"))]
        self._library = [self._compiled(source, "-c") for source in sources]

    def __call__(self, name: str) -> str:
        """What a program complains of."""
        program = self._compiled(FOLDER / f"{name}.cpp", *self._library)
        done = subprocess.run([program], text=True, capture_output=True, check=False)
        return done.stderr if done.returncode else ""

    def _compiled(self, source: Path, *more: str | Path) -> Path:
        made = self._folder / source.stem
        subprocess.run(["g++", *self._flags, source, *more, "-o", made], check=True)
        return made


@pytest.fixture(scope="module", params=processors())
def check(request, repository_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Checks:
    return Checks(
        request.param, repository_dir / "native" / "csrc", tmp_path_factory.mktemp("dense")
    )


def test_element_types_need_no_change_of_the_layer(check: Checks) -> None:
    assert not check("packed_layer_check")


def test_bfloat16_sums_are_a_plain_loops_bit_by_bit(check: Checks) -> None:
    assert not check("bfloat16_check")


def test_int8_rows_sums_are_a_plain_loops_bit_by_bit(check: Checks) -> None:
    assert not check("int8_rows_check")


def test_int8_sums_are_a_plain_loops_bit_by_bit(check: Checks) -> None:
    assert not check("int8_products_check")
