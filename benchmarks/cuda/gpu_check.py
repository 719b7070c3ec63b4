"""Everything that has to be seen on a machine with a GPU, in one command.

``python benchmarks/cuda/gpu_check.py``: builds both halves of the kernels into ``build/gpu``, runs
their tests on both devices, then those of networks and streams, then compute-sanitizer's memcheck
and racecheck over a part of the kernels', then how many streams are carried, then timings against
peers, of graph search on the bundled model's graph or ``--graph``, a compact one. Needs nvcc,
cmake, ninja, nanobind, torch for CUDA, pytest and hypothesis, for networks and streams
sentencepiece, safetensors, PyYAML, tqdm and soundfile too; installs and fetches nothing. Status 1:
a step failed; 2: the machine lacks something.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
KERNEL_TESTS = "tests/decoder_kernels"
NOT_OF_THE_GPU = ("graphs", "ngrams")
"""Folders of them that want kaldifst, and no GPU."""
STREAM_TESTS = (
    "tests/models/test_cuda.py",
    "tests/models/neural_lm/test_lm_cuda.py",
    "tests/training/test_cuda.py",
    "tests/streaming/engine/test_devices.py",
)
SPEECH = REPOSITORY.parent / "shared" / "speech"
BUNDLED_GRAPH = REPOSITORY / "models" / "bundled" / "lm.graph.xz"
PREFIX_SEARCH = "wenets_own or poisoned or too_small or used_again or comes_through or many_tokens"
GRAPH_SEARCH = "high_degree or closure or runs_out or oov_word"
SANITIZED = f"cuda and ({PREFIX_SEARCH} or {GRAPH_SEARCH})"


def missing() -> list[str]:
    """What this machine lacks for the check."""
    tools = [tool for tool in ("nvcc", "cmake", "ninja", "compute-sanitizer") if not found(tool)]
    modules = ("torch", "nanobind", "pytest", "hypothesis")
    lacking = tools + [name for name in modules if importlib.util.find_spec(name) is None]
    if "torch" not in lacking:
        import torch

        lacking += [] if torch.cuda.is_available() else ["a CUDA device that torch can use"]
    return lacking


def found(tool: str) -> bool:
    """Whether a program is on the path."""
    return shutil.which(tool) is not None


def configure(build_dir: Path) -> list[str]:
    """The command that configures a build of both halves."""
    import nanobind

    return [
        *("cmake", "-G", "Ninja", "-S", str(REPOSITORY), "-B", str(build_dir)),
        "-DCMAKE_BUILD_TYPE=Release",
        "-DEARSHOT_CUDA=ON",
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-Dnanobind_DIR={nanobind.cmake_dir()}",
    ]


def with_native(build_dir: Path, *module: str) -> list[str]:
    """The command that runs a module with the kernels of the build."""
    return [sys.executable, "benchmarks/cuda/gpu_native.py", str(build_dir), *module]


def pytest(build_dir: Path, *arguments: str) -> list[str]:
    """The command that runs tests, without the plugins that some need."""
    options = ["-o", "addopts=--import-mode=importlib", "-o", "filterwarnings=default", "-q", "-ra"]
    return with_native(build_dir, "pytest", *options, *arguments)


def kernel_tests(build_dir: Path, *arguments: str) -> list[str]:
    """The command that runs the kernels' tests, on both devices."""
    ignored = [f"--ignore={KERNEL_TESTS}/{folder}" for folder in NOT_OF_THE_GPU]
    return pytest(build_dir, KERNEL_TESTS, *ignored, *arguments)


def sanitizer(tool: str, build_dir: Path) -> list[str]:
    """The command that runs some tests of the CUDA half under compute-sanitizer."""
    options = ["--tool", tool, "--error-exitcode", "1", "--target-processes", "all"]
    return ["compute-sanitizer", *options, *kernel_tests(build_dir, "-x", "-k", SANITIZED)]


def graph_search(build_dir: Path, graph: Path, posteriors: Path | None) -> list[str]:
    """The command that times graph search; real posteriors beside simulated ones if given."""
    real = ["--posteriors", str(posteriors.resolve())] if posteriors else []
    return with_native(
        build_dir, "benchmarks.search.wfst_gpu", "--graph", str(graph.resolve()), *real
    )


def steps(build_dir: Path, graph: Path, posteriors: Path | None) -> dict[str, list[str]]:
    """All steps by name, in order."""
    return {
        "configure": configure(build_dir),
        "build": ["cmake", "--build", str(build_dir)],
        "tests": kernel_tests(build_dir),
        "streams": pytest(build_dir, *STREAM_TESTS, "-m", "gpu"),
        "memcheck": sanitizer("memcheck", build_dir),
        "racecheck": sanitizer("racecheck", build_dir),
        "carried": with_native(build_dir, "benchmarks.cuda.gpu_streams"),
        "timing": with_native(build_dir, "benchmarks.search.prefix_search", "--lanes", "128"),
        "wfst": graph_search(build_dir, graph, posteriors),
    }


def main() -> None:
    """Run the steps; go on after a failed check, but not after a failed build."""
    parser = argparse.ArgumentParser(description="Check the CUDA half of the kernels.")
    parser.add_argument("--build-dir", type=Path, default=REPOSITORY / "build" / "gpu")
    parser.add_argument("--only", nargs="*", help="names of steps to run")
    parser.add_argument("--graph", type=Path, default=BUNDLED_GRAPH, help="a compact one")
    parser.add_argument("--posteriors", type=Path, help=".npz of real ones for it")
    options = parser.parse_args()
    if lacking := missing():
        print(f"gpu check: missing: {', '.join(lacking)}", file=sys.stderr)
        sys.exit(2)
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HYPOTHESIS_STORAGE_DIRECTORY": "/tmp"}
    failed: list[str] = []
    planned = steps(options.build_dir, options.graph, options.posteriors)
    if not SPEECH.exists():
        print(f"gpu check: carried: left out, since there is no speech in {SPEECH}", flush=True)
        del planned["carried"]
    for name, command in planned.items():
        if options.only and name not in options.only:
            continue
        print(f"gpu check: {name}", flush=True)
        start = time.monotonic()
        status = subprocess.run(command, cwd=REPOSITORY, env=environment, check=False).returncode
        print(f"gpu check: {name}: status {status}, {time.monotonic() - start:.0f} s", flush=True)
        failed += [name] if status else []
        if name in ("configure", "build") and status:
            break
    if failed:
        sys.exit(f"gpu check: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
