"""Speed of a linear layer's products natively: `panel_products.cpp`, compiled for a processor."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import REPOSITORY

Shape = tuple[int, int, int]
"""Rows, inputs, outputs."""


@dataclass(frozen=True)
class PanelSpeed:
    """GFLOP/s of one thread by precision."""

    float32: float
    bfloat16: float


class PanelProducts:
    """The program, compiled in a folder. Takes g++; raises CalledProcessError."""

    def __init__(self, processor: str, folder: Path) -> None:
        self._program = folder / processor
        flags = ["-std=c++20", "-O3", "-ffp-contract=fast", "-Wno-psabi"]
        csrc = REPOSITORY / "native" / "csrc"
        flags += [f"-I{csrc}", f"-DEARSHOT_{processor.upper()}", "-pthread"]
        flags += [f"-DEARSHOT_PROCESSOR={processor}", "-o", str(self._program)]
        sources = [
            Path(__file__).with_name("panel_products.cpp"),
            csrc / "dense" / "packed_linear.cpp",
            *(csrc / "threads").glob("*.cpp"),
        ]
        subprocess.run(["g++", *flags, *map(str, sources)], check=True)

    def __call__(self, shapes: Sequence[Shape]) -> list[PanelSpeed]:
        """The fastest of some rounds of each shape."""
        numbers = [str(number) for shape in shapes for number in shape]
        command = [str(self._program), *numbers]
        done = subprocess.run(command, check=True, text=True, capture_output=True)
        return [PanelSpeed(*map(float, line.split())) for line in done.stdout.splitlines()]
