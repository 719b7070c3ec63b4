"""Run a Python module with the native libraries of a build directory instead of the installed ones.

``python benchmarks/cuda/gpu_native.py BUILD_DIR MODULE [ARGUMENT…]``, for example with ``pytest
tests/decoder_kernels``: for machines where nothing is installed, and for sanitizer builds.
"""

import importlib
import importlib.util
import runpy
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def load_native(build_dir: Path, package: str) -> None:
    """Make a package's ``_native`` the module that was built in ``build_dir``."""
    [library] = (build_dir / package / "csrc").glob("_native*.so")
    name = f"earshot.{package}._native"
    spec = importlib.util.spec_from_file_location(name, library)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{library} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    # As an import would: tests and tools ask the package for it.
    importlib.import_module(f"earshot.{package}")._native = module


def main() -> None:
    """Load kernels and networks, then run the module as ``python -m`` would."""
    build_dir, module, *arguments = sys.argv[1:]
    sys.path.insert(0, str(REPOSITORY))
    for package in ("decoder_kernels", "models"):
        load_native(Path(build_dir), package)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
