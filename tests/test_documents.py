"""The files, folders and modules that documents, docstrings and comments name are there."""

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

FOLDERS = (
    "service", "streaming", "training", "language", "models", "decoder_kernels",
    "benchmarks", "tests", "web", "docs", "deploy", "cmake",
)  # fmt: skip
PATH = re.compile(
    rf"(?<![\w./<{{:*~-])((?:{'|'.join(FOLDERS)})/[\w./-]*\w"  # from the root,
    r"|(?:[\w.-]+/)*\w[\w.-]*\.(?:py|h|cu|cpp|mjs))"  # or the end of a path to a source
    r"(?![\w*{<-])"
)
MODULE = re.compile(r"(?<![\w/.-])earshot(?:\.[a-z_]\w*)+")
OTHERS = {
    "torch/library.h": "torch's",
    "vector-fst.h": "OpenFst's",
    "const-fst.h": "OpenFst's",
    "OUT.cpp": "what a caller names",
    "OUT.IN.0.cpp": "what a caller names",
    "OUT.tables.cpp": "what a caller names",
    "training/recipes/trial": "the beginning of some names",
    "docs/benchmarks/wfst_gpu.md": "what a run on a GPU will write",
}
"""Names that look like ours and are not."""


def told(root: Path) -> Iterator[tuple[Path, str]]:
    """Documents whole; of sources what they say of themselves."""
    yield from ((file, file.read_text()) for file in root.glob("*.md"))
    for name in FOLDERS:
        for file in (root / name).rglob("*"):
            if file.suffix == ".md":
                yield file, file.read_text()
            elif file.suffix == ".py":
                yield file, docstrings(file)
            elif file.suffix in (".h", ".cu", ".cpp"):
                yield file, "\n".join(re.findall(r"//(.*)", file.read_text()))


def docstrings(file: Path) -> str:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, kinds)]
    return "\n".join(ast.get_docstring(node) or "" for node in nodes)


@pytest.fixture(scope="module")
def endings(repository_dir: Path) -> frozenset[str]:
    """Ends of all paths: `two_pass.py`, `u2/two_pass.py`, `streaming/u2/two_pass.py`."""
    found = set()
    for name in FOLDERS:
        for file in (repository_dir / name).rglob("*"):
            parts = file.relative_to(repository_dir).parts
            found.update(str(PurePosixPath(*parts[first:])) for first in range(len(parts)))
    return frozenset(found)


def test_every_path_that_is_named_exists(repository_dir: Path, endings: frozenset[str]) -> None:
    named = [(file, each[1]) for file, text in told(repository_dir) for each in PATH.finditer(text)]
    assert len(named) > 400
    lost = [
        f"{file.relative_to(repository_dir)}: {path}"
        for file, path in named
        if path not in endings
        and path not in OTHERS
        and not any((folder / path).exists() for folder in (file.parent, repository_dir))
    ]
    assert lost == []


def test_every_module_that_is_named_exists(repository_dir: Path) -> None:
    named = [
        (file, each[0]) for file, text in told(repository_dir) for each in MODULE.finditer(text)
    ]
    assert named
    lost = [f"{file}: {name}" for file, name in named if not is_there(name)]
    assert lost == []


def is_there(name: str) -> bool:
    """A module, or something that one speaks of."""
    module, _, rest = name.rpartition(".")
    if is_module(name):
        return True
    found = is_module(module) and importlib.util.find_spec(module)
    return bool(
        found and found.origin and re.search(rf"\b{rest}\b", Path(found.origin).read_text())
    )


def is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
