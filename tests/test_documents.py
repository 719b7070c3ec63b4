"""The files, folders and modules that documents, docstrings and comments name are there."""

import ast
import importlib.util
import re
from collections import Counter
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
    "docs/benchmarks/wfst_gpu.md": "what a run on a GPU will write",
    "docs/benchmarks/gpu_streams.md": "what a run on a GPU will write",
}
"""Names that look like ours and are not."""
PAPERS = {
    "Yao et al. 2021, WeNet": (5, 2),
    "Galvez and Kaldewey 2023, graph search on a GPU": (4, 6),
    "Fukunaga et al. 2019, a large language model beside the GPU": (1, 4),
    "Bataev et al. 2024, label-looping": (6, 1),
    "Galvez et al. 2024, greedy RNN-T in one CUDA graph": (1, 3),
}
"""How many tables and figures each paper has."""
PAPER_ROW = re.compile(r"^\| (Table|Figure)s? ([\d, ]+) \|(.+)\|(.*)\|(.*)\|(.+)\|$", re.MULTILINE)


@pytest.fixture(scope="module")
def told(repository_dir: Path) -> list[tuple[Path, str]]:
    """Files and their texts: documents whole, of sources what they say of themselves."""
    return list(texts(repository_dir))


def texts(root: Path) -> Iterator[tuple[Path, str]]:
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


def test_every_path_that_is_named_exists(
    repository_dir: Path, told: list[tuple[Path, str]], endings: frozenset[str]
) -> None:
    named = [(file, each[1]) for file, text in told for each in PATH.finditer(text)]
    assert len(named) > 400
    lost = [
        f"{file.relative_to(repository_dir)}: {path}"
        for file, path in named
        if path not in endings
        and path not in OTHERS
        and not any((folder / path).exists() for folder in (file.parent, repository_dir))
    ]
    assert lost == []


def test_every_module_that_is_named_exists(told: list[tuple[Path, str]]) -> None:
    named = [(file, each[0]) for file, text in told for each in MODULE.finditer(text)]
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


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_and_figure_of_a_paper_has_a_row(repository_dir: Path, paper: str) -> None:
    rows = [(row[1], number) for row in paper_rows(repository_dir, paper)
            for number in row[2].split(", ")]  # fmt: skip
    tables, figures = PAPERS[paper]
    wanted = [("Table", tables), ("Figure", figures)]
    assert sorted(rows) == sorted(
        (kind, str(number)) for kind, count in wanted for number in range(1, count + 1)
    )


@pytest.mark.parametrize("paper", PAPERS)
def test_a_row_without_a_page_says_so(repository_dir: Path, paper: str) -> None:
    for row in paper_rows(repository_dir, paper):
        has_page = row[5].strip(" ") not in ("", "none")
        assert has_page or "not yet" in row[6].lower(), row[0]


def paper_rows(repository_dir: Path, paper: str) -> list[re.Match[str]]:
    text = (repository_dir / "docs" / "papers.md").read_text()
    section = text.split(f"## {paper}\n")[1].split("\n## ")[0]
    return list(PAPER_ROW.finditer(section))


def test_no_two_decisions_have_the_same_number():
    numbers = [record.name[:4] for record in Path("docs/decisions").glob("[0-9]*.md")]
    assert [number for number, count in Counter(numbers).items() if count > 1] == []
