"""Modules that run with the native libraries of a build directory."""

import os
import subprocess
import sys
from pathlib import Path

import earshot.decoder_kernels._native
import earshot.models._native

PACKAGES = {"decoder_kernels": earshot.decoder_kernels._native, "models": earshot.models._native}


def test_a_packages_native_library_is_that_of_the_build(
    repository_dir: Path, tmp_path: Path
) -> None:
    for package, native in PACKAGES.items():
        folder = tmp_path / package / "csrc"
        folder.mkdir(parents=True)
        (folder / "_native.so").symlink_to(native.__file__)
    (tmp_path / "shown.py").write_text(
        "import earshot.decoder_kernels, earshot.models\n"
        "print(earshot.decoder_kernels._native.__file__, earshot.models._native.__file__)\n"
    )
    script = repository_dir / "benchmarks" / "cuda" / "gpu_native.py"
    shown = subprocess.check_output(
        [sys.executable, script, tmp_path, "shown"],
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert shown.split() == [str(tmp_path / name / "csrc" / "_native.so") for name in PACKAGES]
