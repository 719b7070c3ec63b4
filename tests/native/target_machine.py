"""Machines that programs in C++ are compiled for and run on: this one, or an emulated one."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from earshot.models.native.weights import processors

FLAGS = ("-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")


@dataclass(frozen=True)
class Machine:
    """A compiler's machine.

    emulator: the command that runs its programs; empty for this one. packages: Debian's, of what
    it needs. processors: kinds of processor that it is.
    """

    compiler: str
    emulator: tuple[str, ...]
    packages: str
    processors: tuple[str, ...]

    def require(self) -> None:
        """Skip the test where a tool is missing."""
        for tool in (self.compiler, *self.emulator[:1]):
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not here (Debian: apt install {self.packages})")

    def compile(self, csrc: Path, *arguments: str | Path) -> None:
        """Compile what includes headers of a folder of sources."""
        subprocess.run([self.compiler, *FLAGS, f"-I{csrc}", *arguments], check=True)

    def run(
        self,
        program: Path,
        argument: str,
        environment: Mapping[str, str] | None = None,
        limit_s: float | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run a compiled program."""
        return subprocess.run(
            [*self.emulator, program, argument],
            env=environment,
            text=True,
            capture_output=True,
            check=False,
            timeout=limit_s,
        )


HERE = Machine("g++", (), "g++", tuple(processors()))
AARCH64 = Machine(
    "aarch64-linux-gnu-g++",
    ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
    "g++-aarch64-linux-gnu qemu-user",
    ("portable",),
)
"""Debian's cross compiler; its libraries lie where the emulator looks for those of programs."""

MACHINE = {"": HERE, "aarch64": AARCH64}[os.environ.get("EARSHOT_MACHINE", "")]
