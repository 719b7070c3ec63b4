"""Programs that check threads in C++, compiled as they are and with ThreadSanitizer."""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent / "threads"
SANITIZERS = {"plain": [], "tsan": ["-fsanitize=thread", "-g"]}
LIMIT_S = 120


def compiled(name: str, sanitizer: str, csrc: Path, folder: Path) -> Path:
    """The check of that name in C++, with all of `csrc/threads`."""
    program = folder / f"{name}_{sanitizer}"
    sources = [HERE / f"{name}_check.cpp", *sorted((csrc / "threads").glob("*.cpp"))]
    flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{csrc}", "-pthread"]
    subprocess.run(["g++", *flags, *SANITIZERS[sanitizer], *sources, "-o", program], check=True)
    return program


def require(program: Path, behaviour: str) -> None:
    """Run one of the program's behaviours; raises AssertionError where it does not hold."""
    # A child with threads of its own is what is tested; the sanitizer only mistrusts it.
    environment = os.environ | {"TSAN_OPTIONS": "die_after_fork=0"}
    done = subprocess.run(
        [program, behaviour],
        env=environment,
        text=True,
        capture_output=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
