"""Programs that check threads in C++, compiled as they are and with ThreadSanitizer."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from target_machine import MACHINE

HERE = Path(__file__).parent
SANITIZERS: dict[str, list[str]] = {"plain": [], "tsan": ["-fsanitize=thread", "-g"]}
LIMIT_S = 120


@pytest.fixture(scope="module", params=SANITIZERS)
def require(
    request: pytest.FixtureRequest, repository_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], None]:
    """Runs a behaviour of the module's PROGRAM; AssertionError where it does not hold."""
    MACHINE.require()
    if MACHINE.emulator and request.param != "plain":
        pytest.skip("sanitizers do not run in an emulator")
    csrc = repository_dir / "native" / "csrc"
    program = tmp_path_factory.mktemp("threads") / request.module.PROGRAM
    sources = [HERE / f"{program.name}.cpp", *sorted((csrc / "threads").glob("*.cpp"))]
    MACHINE.compile(csrc, *SANITIZERS[request.param], *sources, "-o", program)
    # A child with threads of its own is what is tested; the sanitizer only mistrusts it.
    environment = os.environ | {"TSAN_OPTIONS": "die_after_fork=0"}

    def run(behaviour: str) -> None:
        done = MACHINE.run(program, behaviour, environment, LIMIT_S)
        assert done.returncode == 0, done.stderr

    return run
