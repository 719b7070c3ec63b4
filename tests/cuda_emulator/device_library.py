"""Compiles ``torch_device/``: the C++ compiler is enough, and takes a quarter of a minute once.

Where the emulator of the whole CUDA half is built (make cuda-emulator), it is part of that build.
"""

import fcntl
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent / "torch_device"
EMULATOR = SOURCE.parents[2] / "build" / "cuda_emulator"
OWN = SOURCE.parents[2] / "build" / "torch_device"
IN_EMULATOR = (EMULATOR / "torch_device" / "libtorch_device.so").exists()

BUILD = EMULATOR if IN_EMULATOR else OWN
LIBRARY = (EMULATOR / "torch_device" if IN_EMULATOR else OWN) / "libtorch_device.so"
DEVICE_MEMORY = (EMULATOR / "machine" if IN_EMULATOR else OWN) / "libdevice_memory.so"


def build() -> None:
    """Make the libraries, or compile what has changed. Others of the same checkout wait.

    Raises RuntimeError with what the compiler says, where it fails.
    """
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
    configure = [cmake, "-G", "Ninja", "-S", str(SOURCE), "-B", str(OWN), *settings]
    compile_both = [cmake, "--build", str(BUILD), "--target", "torch_device", "device_memory"]
    for command in [compile_both] if IN_EMULATOR else [configure, compile_both]:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
