"""Compiles ``torch_device/``: the C++ compiler is enough, and takes a quarter of a minute once."""

import fcntl
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent / "torch_device"
BUILD = SOURCE.parents[2] / "build" / "torch_device"

LIBRARY = BUILD / "libtorch_device.so"
DEVICE_MEMORY = BUILD / "libdevice_memory.so"


def build() -> None:
    """Make the libraries, or compile what has changed. Others of the same checkout wait."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _build()


def _build() -> None:
    tools = Path(sys.executable).parent
    cmake = str(tools / "cmake")
    settings = (
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}",
    )
    configure = [cmake, "-G", "Ninja", "-S", str(SOURCE), "-B", str(BUILD), *settings]
    for command in (configure, [cmake, "--build", str(BUILD)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
