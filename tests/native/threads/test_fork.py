"""Both libraries' threads in a process that forks: each side computes on, with several."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).with_name("fork_check.py")
LIMIT_S = 120
THREADS = 6
"""Of the child, once it has computed."""


@pytest.mark.parametrize("library", ["networks", "searches"])
def test_a_fork_leaves_both_processes_with_threads(library):
    program = [sys.executable, str(CHECK), library]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        program, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert run.stdout.split() == ["1", str(THREADS), "True"], run.stderr
