"""Packed layers keep their weights in fewer bits, on each kind of processor."""

from pathlib import Path

import pytest
from target_machine import MACHINE

FOLDER = Path(__file__).parent


class Checks:
    """The checks for a kind of processor, compiled with the layers as one program."""

    def __init__(self, processor: str, csrc: Path, threads: list[Path], folder: Path) -> None:
        kind = [] if processor == "portable" else [f"-DEARSHOT_{processor.upper()}"]
        flags = ["-Wno-psabi", *kind, f"-DEARSHOT_PROCESSOR={processor}"]
        self._program = folder / "packed_layer_checks"
        sources = [FOLDER / "packed_layer_checks.cpp", *threads]
        MACHINE.compile(csrc, *flags, *sources, "-o", self._program)

    def __call__(self, name: str) -> str:
        """What a check complains of."""
        done = MACHINE.run(self._program, name)
        return f"{done.returncode}: {done.stderr}" if done.returncode else ""


@pytest.fixture(scope="module")
def csrc(repository_dir: Path) -> Path:
    MACHINE.require()
    return repository_dir / "native" / "csrc"


@pytest.fixture(scope="module")
def threads(csrc: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What all kinds of processors have alike."""
    folder = tmp_path_factory.mktemp("threads")
    sources = sorted((csrc / "threads").glob("*.cpp"))
    objects = [folder / f"{source.stem}.o" for source in sources]
    for source, compiled in zip(sources, objects, strict=True):
        MACHINE.compile(csrc, "-c", source, "-o", compiled)
    return objects


@pytest.fixture(scope="module", params=MACHINE.processors)
def check(
    request, csrc: Path, threads: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Checks:
    return Checks(request.param, csrc, threads, tmp_path_factory.mktemp("dense"))


def test_element_types_need_no_change_of_the_layer(check: Checks) -> None:
    assert not check("packed_layer_check")


def test_bfloat16_sums_are_a_plain_loops_bit_by_bit(check: Checks) -> None:
    assert not check("bfloat16_check")


def test_int8_rows_sums_are_a_plain_loops_bit_by_bit(check: Checks) -> None:
    assert not check("int8_rows_check")


def test_int8_sums_are_a_plain_loops_bit_by_bit(check: Checks) -> None:
    assert not check("int8_products_check")
