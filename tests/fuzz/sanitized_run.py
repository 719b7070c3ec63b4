"""Fuzz the CPU half of the kernels, built with AddressSanitizer and UBSan: ``make fuzz``.

Takes the arguments of ``fuzz_searches.py``, or behind ``--lms`` those of ``fuzz_lms.py``. Leaks are
looked for in a short run of their own: the interpreter and its libraries leak at exit, so a leak
counts if a frame of its stack is ours. What a module makes when it is imported, its classes and
functions, stays for good, and does not count.
"""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build" / "fuzz"
PYTHON_PATH = os.pathsep.join(
    str(REPOSITORY / "tests" / name)
    for name in ("fuzz", "fuzz/lms", "decoder_kernels", "decoder_kernels/lm", "cuda_emulator")
)
"""Where the fuzzer's helpers are, which pytest finds by itself."""
LEAK_RUNS = {"fuzz_searches": ("--operations", "5000"), "fuzz_lms": ("--files", "200")}
OURS = "/_native."
FRAME = re.compile(r"\((\S*/_native\.\S*)\+0x([0-9a-f]+)\)")
IMPORTING = re.compile(r"^(\w+) (\w+) t _ZL\d+nanobind__native_exec", re.MULTILINE)
"""What nm says of the function that fills in a module: where it begins, and its size."""

SANITIZERS = "address,undefined,float-cast-overflow"
LIBRARIES = ("libasan.so", "libubsan.so")
# Freed memory stays poisoned for a while; much of it would look as if memory grew.
ASAN_OPTIONS = "quarantine_size_mb=16"
UBSAN_OPTIONS = "halt_on_error=1:print_stacktrace=1"


def main() -> None:
    """Build, fuzz, look for leaks; exits with a code other than 0 where something is wrong."""
    build(BUILD, SANITIZERS)
    arguments = sys.argv[1:]
    fuzzer = "fuzz_lms" if arguments[:1] == ["--lms"] else "fuzz_searches"
    fuzzed = fuzz(fuzzer, arguments[fuzzer == "fuzz_lms" :], "detect_leaks=0")
    if fuzzed.returncode:
        sys.exit(fuzzed.returncode)
    print("looking for leaks", file=sys.stderr)
    # Without symbols: there are thousands of stacks that are not ours.
    leaking = fuzz(fuzzer, LEAK_RUNS[fuzzer], "detect_leaks=1:symbolize=0", capture_output=True)
    report = leaking.stderr
    if "LeakSanitizer" not in report:
        sys.exit(f"LeakSanitizer did not report:\n{report}")
    stacks = [stack for stack in report.split("\n\n") if "leak of" in stack and OURS in stack]
    if leaks := [stack for stack in stacks if not is_of_import(stack)]:
        sys.exit("\n\n".join(leaks))
    print("no leaks")


def is_of_import(stack: str) -> bool:
    """Whether something was made while one of our modules was imported."""
    frames = FRAME.findall(stack)
    return any(int(at, 16) in part for path, at in frames for part in importing(path))


@cache
def importing(path: str) -> tuple[range, ...]:
    """Where the code is that fills in a module."""
    listed = subprocess.check_output(["nm", "--print-size", path], text=True)
    found = [(int(begin, 16), int(size, 16)) for begin, size in IMPORTING.findall(listed)]
    return tuple(range(begin, begin + size) for begin, size in found)


def build(folder: Path, sanitizers: str) -> None:
    """Compile what has changed of both packages' native halves."""
    nanobind = [sys.executable, "-m", "nanobind", "--cmake_dir"]
    tools = Path(sys.executable).parent
    settings = {
        "EARSHOT_CUDA": "OFF",
        "EARSHOT_SANITIZE": sanitizers,
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": subprocess.check_output(nanobind, text=True).strip(),
        "CMAKE_MAKE_PROGRAM": str(tools / "ninja"),
    }
    flags = [f"-D{name}={value}" for name, value in settings.items()]
    cmake = str(tools / "cmake")
    configure = [cmake, "-G", "Ninja", "-S", str(REPOSITORY), "-B", str(folder), *flags]
    for command in (configure, [cmake, "--build", str(folder)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)


def library(name: str) -> str:
    """Where the compiler has a sanitizer's library."""
    return subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()


def runner(folder: Path) -> list[str]:
    """A command that runs a module with the native halves of a build."""
    return [sys.executable, str(REPOSITORY / "benchmarks" / "cuda" / "gpu_native.py"), str(folder)]


def fuzz(
    fuzzer: str,
    arguments: "tuple[str, ...] | list[str]",
    options: str,
    *,
    capture_output: bool = False,
) -> "subprocess.CompletedProcess[str]":
    """Run a fuzzer with the kernels that `build` has made."""
    environment = os.environ | {
        "LD_PRELOAD": " ".join(map(library, LIBRARIES)),
        "ASAN_OPTIONS": f"{ASAN_OPTIONS}:{options}",
        "UBSAN_OPTIONS": UBSAN_OPTIONS,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": PYTHON_PATH,
    }
    return subprocess.run(
        [*runner(BUILD), fuzzer, *arguments],
        env=environment,
        text=True,
        check=False,
        capture_output=capture_output,
    )


if __name__ == "__main__":
    main()
