"""Run a Python module with the native kernels of a build directory instead of the installed ones.

``python benchmarks/cuda/gpu_native.py BUILD_DIR MODULE [ARGUMENT…]``, for example with ``pytest
tests/decoder_kernels``: for machines where nothing is installed, and for sanitizer builds.
"""

import importlib.util
import runpy
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def load_native(build_dir: Path) -> None:
    """Make ``earshot.decoder_kernels._native`` the module that was built in ``build_dir``."""
    [library] = (build_dir / "decoder_kernels" / "csrc").glob("_native*.so")
    spec = importlib.util.spec_from_file_location("earshot.decoder_kernels._native", library)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{library} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules["earshot.decoder_kernels._native"] = module
    spec.loader.exec_module(module)


def main() -> None:
    """Load the kernels, then run the module as ``python -m`` would."""
    build_dir, module, *arguments = sys.argv[1:]
    sys.path.insert(0, str(REPOSITORY))
    load_native(Path(build_dir))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
