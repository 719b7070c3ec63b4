"""Type stubs of both native libraries, as they are committed: ``make stubs`` writes them.

nanobind says what is bound; arrays become `Lendable`, for what is lent is not copied into NumPy.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
HOMES = {
    "earshot.decoder_kernels._native": REPOSITORY / "decoder_kernels",
    "earshot.models._native": REPOSITORY / "models",
}
"""The libraries, and where their stubs lie."""

HEAD = "# Generated: make stubs.\n"
CUDA = "from earshot.decoder_kernels._native import cuda as cuda\n"
"""What a library without its CUDA half lacks."""

_BORROWED = re.compile(
    r"NDArray\[numpy\.(\w+)\], dict\((shape=\([None, ]*\), order='C', device='\w+')"
)
_LENT = r"Lendable, dict(dtype='\1', \2"


def stubs_of(module: str) -> dict[Path, str]:
    """The texts of an installed library's stubs by their paths in the repository."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-r", "-m", module, "-O", folder]
        subprocess.run(command, check=True)
        return {
            HOMES[module] / file.relative_to(folder): _in_house_style(file.read_text())
            for file in sorted(Path(folder).rglob("*.pyi"))
        }


def _in_house_style(text: str) -> str:
    text = _BORROWED.sub(_LENT, text)
    if "Lendable" in text:
        after = "from typing import Annotated\n"
        text = text.replace(after, f"{after}\nfrom earshot.native.dlpack import Lendable\n", 1)
    ruff = [Path(sys.executable).with_name("ruff")]
    name = ["--stdin-filename", "generated.pyi", "-"]
    for command in (["check", "-q", "--fix-only", "--select", "F401,I001"], ["format", "-q"]):
        text = subprocess.run(
            [*ruff, *command, *name], input=text, text=True, check=True, capture_output=True
        ).stdout
    return HEAD + text


def main() -> None:
    """Write the stubs of what is installed; it needs the CUDA half."""
    for module in HOMES:
        for path, text in stubs_of(module).items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(REPOSITORY))


if __name__ == "__main__":
    main()
