"""Tests in Python on an emulated aarch64: its interpreter, its torch, natives compiled across.

``.venv/bin/python tests/native/aarch64_run.py TESTS…``, as ``tests/decoder_kernels/prefix``, on
Debian 12, whose interpreter for arm64 is fetched (70 MB, without installing it), as are wheels from
PyPI (200 MB). What is in build/aarch64 already is not made again.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build" / "aarch64"
ROOT, SITE, NATIVES = BUILD / "root", BUILD / "site", BUILD / "natives"
PYTHON = ROOT / "usr" / "bin" / "python3.11"
TOOLS = ("aarch64-linux-gnu-g++", "qemu-aarch64", "apt-get", "dpkg-deb")
EMULATOR = ["qemu-aarch64", "-L", str(ROOT)]
APT = """APT::Architecture "arm64";
APT::Architectures {{ "arm64"; }};
Dir::State "{0}/state";
Dir::State::status "{0}/state/status";
Dir::Cache "{0}/cache";
Debug::NoLocking "true";
"""
# The last on PyPI that is known to be without CUDA for aarch64. Earshot wants a newer one: tests
# that load checkpoints fail with it.
TORCH = "torch==2.10.0"
WHEELS = (
    "cffi",
    "filelock",
    "fsspec",
    "hypothesis",
    "iniconfig",
    "jinja2",
    "markupsafe",
    "mpmath",
    "networkx",
    "numpy",
    "packaging",
    "pluggy",
    "pycparser",
    "pygments",
    "pytest",
    "pytest-asyncio",
    "pytest-timeout",
    "pyyaml",
    "safetensors",
    "sentencepiece",
    "sortedcontainers",
    "soundfile",
    "soxr",
    "sympy",
    "tokenizers",
    "typing_extensions",
)


def main() -> None:
    """Fetch and build what is missing, then run the tests; exits as pytest does."""
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        packages = "g++-aarch64-linux-gnu qemu-user"
        sys.exit(f"aarch64_run: missing: {', '.join(missing)} (Debian: apt install {packages})")
    for made, make in ((ROOT, fetch_interpreter), (SITE, fetch_wheels), (NATIVES, build_natives)):
        if not made.exists():
            print(f"aarch64_run: making {made}", flush=True)
            make()
    sys.exit(run_tests(sys.argv[1:]))


def fetch_interpreter() -> None:
    """Debian's for arm64, by an apt of its own lists, unpacked."""
    folder = BUILD / "apt"
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "state" / "status").touch()
    (folder / "apt.conf").write_text(APT.format(folder))
    environment = os.environ | {"APT_CONFIG": str(folder / "apt.conf")}
    apt = ["apt-get", "-qq", "--no-install-recommends", "--yes", "--download-only"]
    packages = ["python3.11", "python3.11-dev", "libgomp1", "libstdc++6"]
    subprocess.run([*apt, "update"], env=environment, check=True)
    subprocess.run([*apt, "install", *packages], env=environment, check=True)
    unpacked = BUILD / "root.part"
    for package in sorted((folder / "cache" / "archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
    unpacked.rename(ROOT)


def fetch_wheels() -> None:
    """Wheels for aarch64 without what they require, which pip would choose for this machine."""
    pins = dict(
        re.findall(r"^([\w.-]+)==(\S+)", (REPOSITORY / "constraints.txt").read_text(), re.M)
    )
    versions = {name.lower().replace("-", "_"): version for name, version in pins.items()}
    wanted = [f"{name}=={versions[name.replace('-', '_')]}" for name in WHEELS]
    glibcs = ("manylinux2014", *(f"manylinux_2_{minor}" for minor in (17, 24, 26, 27, 28, 31, 34)))
    platforms = [f"--platform={glibc}_aarch64" for glibc in glibcs]
    options = ["--no-deps", "--only-binary=:all:", "--python-version=3.11", *platforms]
    part = BUILD / "site.part"
    pip = [sys.executable, "-m", "pip", "install", "-q", *options, "--target", part]
    environment = os.environ | {"PIP_CONSTRAINT": ""}
    subprocess.run([*pip, TORCH, *wanted], env=environment, check=True)
    part.rename(SITE)


def build_natives() -> None:
    """Both native halves, with the interpreter's headers."""
    nanobind = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True)
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": "aarch64-linux-gnu-g++",
        "CMAKE_CXX_FLAGS": f"-idirafter {ROOT}/usr/include",
        "CMAKE_CROSSCOMPILING_EMULATOR": ";".join(EMULATOR),
        "CMAKE_MAKE_PROGRAM": str(Path(sys.executable).parent / "ninja"),
        "EARSHOT_CUDA": "OFF",
        "Python_EXECUTABLE": str(PYTHON),
        "Python_INCLUDE_DIR": str(ROOT / "usr" / "include" / "python3.11"),
        "nanobind_DIR": nanobind.strip(),
    }
    flags = [f"-D{name}={value}" for name, value in settings.items()]
    cmake = str(Path(sys.executable).parent / "cmake")
    part = BUILD / "natives.part"
    configure = [cmake, "-G", "Ninja", "-S", str(REPOSITORY), "-B", str(part), *flags]
    subprocess.run(configure, check=True)
    subprocess.run([cmake, "--build", str(part)], check=True)
    part.rename(NATIVES)


def run_tests(tests: list[str]) -> int:
    """Run pytest in the emulator, with compiled modules of its own."""
    environment = os.environ | {
        "PYTHONPATH": str(SITE),
        "PYTHONPYCACHEPREFIX": str(BUILD / "compiled"),
        "OMP_NUM_THREADS": "1",
    }
    runner = [str(REPOSITORY / "benchmarks" / "cuda" / "gpu_native.py"), str(NATIVES)]
    command = [*EMULATOR, str(PYTHON), *runner, "pytest", "-o", "timeout=0", *tests]
    return subprocess.run(command, env=environment, cwd=REPOSITORY, check=False).returncode


if __name__ == "__main__":
    main()
