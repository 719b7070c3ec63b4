"""Threads of a step and of its decoders under ThreadSanitizer: ``make races``.

Both native halves are built anew; torch and the interpreter are not, so that only what our own
threads do without one another's leave is told.
"""

import os
import subprocess
import sys
from pathlib import Path

from sanitized_run import REPOSITORY, build

BUILD = REPOSITORY / "build" / "races"
PYTHON_PATH = os.pathsep.join(str(REPOSITORY / "tests" / name) for name in ("fuzz", "streaming"))
TSAN_OPTIONS = "ignore_noninstrumented_modules=1:report_signal_unsafe=0:exitcode=66"


def main() -> None:
    """Build and run; exits with a code other than 0 where threads raced."""
    build(BUILD, "thread")
    library = subprocess.check_output(["g++", "-print-file-name=libtsan.so"], text=True).strip()
    environment = os.environ | {
        "LD_PRELOAD": library,
        "TSAN_OPTIONS": TSAN_OPTIONS,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": PYTHON_PATH,
    }
    runner = [sys.executable, str(REPOSITORY / "benchmarks" / "cuda" / "gpu_native.py"), str(BUILD)]
    # The sanitizer keeps its shadow where addresses drawn at random may lie.
    command = ["setarch", "--addr-no-randomize", *runner, "threaded_steps"]
    sys.exit(subprocess.run(command, env=environment, check=False, cwd=Path.cwd()).returncode)


if __name__ == "__main__":
    main()
