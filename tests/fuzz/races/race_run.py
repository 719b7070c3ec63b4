"""Threads of a step and of its decoders under ThreadSanitizer: ``make races``.

Both native halves are built anew; torch and the interpreter are not, so that only what our own
threads do without one another's leave is told.
"""

import os
import subprocess
import sys

from sanitized_run import REPOSITORY, build, library, runner

BUILD = REPOSITORY / "build" / "races"
TESTS = REPOSITORY / "tests"
PYTHON_PATH = f"{TESTS / 'fuzz' / 'races'}{os.pathsep}{TESTS / 'streaming'}"
TSAN_OPTIONS = "ignore_noninstrumented_modules=1:report_signal_unsafe=0:exitcode=66"


def main() -> None:
    """Build and run; exits with a code other than 0 where threads raced."""
    build(BUILD, "thread")
    environment = os.environ | {
        "LD_PRELOAD": library("libtsan.so"),
        "TSAN_OPTIONS": TSAN_OPTIONS,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": PYTHON_PATH,
    }
    # The sanitizer keeps its shadow where addresses drawn at random may lie.
    command = ["setarch", "--addr-no-randomize", *runner(BUILD), "threaded_steps"]
    sys.exit(subprocess.run(command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
