"""What holds for the repository as a whole."""

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from earshot.service.core.metrics import Metrics
from earshot.service.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("service", "streaming", "training", "language", "models", "decoder_kernels", "native")
FOLDERS = (*PACKAGES, "benchmarks", "tests")
MOST_FILES = 15
"""Source files of one folder: a reader sees at a glance what is in it."""
NOUNLESS = re.compile(r"(Of|Those|As|Such|Both)\b|What\b(?! (an?|the|each|every|one|this|these)\b)")
"""Openings that leave a reader to guess the noun: "Of both.", "As found.", "What is left"."""
STILL_TO_DO = 14
"""How many product docstrings still begin so. Lower it with each that is rewritten."""


def python_files(repository_dir: Path) -> list[Path]:
    return [file for name in FOLDERS for file in (repository_dir / name).rglob("*.py")]


def test_newest_changelog_heading_is_unreleased_or_the_version(repository_dir: Path) -> None:
    project = tomllib.loads((repository_dir / "pyproject.toml").read_text())["project"]
    headings = re.findall(r"^## (.+)$", (repository_dir / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == "Unreleased" or headings[0].split()[0] == project["version"]


def test_every_requirement_is_pinned(repository_dir: Path) -> None:
    project = tomllib.loads((repository_dir / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    wanted = [*project["dependencies"], *optional["test"], *optional["dev"]]
    pins = re.findall(r"^([\w.-]+)==", (repository_dir / "constraints.txt").read_text(), re.M)
    pinned = {re.sub(r"[-_.]+", "-", pin).lower() for pin in pins}
    names = {re.sub(r"[-_.]+", "-", re.split(r"[\[<>=]", name)[0]).lower() for name in wanted}
    assert names <= pinned


def other_sources(repository_dir: Path) -> Iterator[Path]:
    for name in (*FOLDERS, "web"):
        for kind in ("*.h", "*.cu", "*.cpp", "*.js", "*.mjs", "*.css"):
            yield from (repository_dir / name).rglob(kind)


def test_no_source_file_is_longer_than_400_lines(repository_dir: Path) -> None:
    files = [*python_files(repository_dir), *other_sources(repository_dir)]
    assert {".py", ".cpp", ".h", ".cu", ".js"} <= {file.suffix for file in files}
    assert [str(f) for f in files if len(f.read_text().splitlines()) > 400] == []


def test_no_folder_has_more_files_than_a_reader_takes_in(repository_dir: Path) -> None:
    sources = [*python_files(repository_dir), *other_sources(repository_dir)]
    folders = Counter(file.parent for file in sources if file.name != "__init__.py")
    crowded = {str(folder): count for folder, count in folders.items() if count > MOST_FILES}
    assert crowded == {}


def test_no_folders_import_each_other(repository_dir: Path) -> None:
    imported: dict[str, set[str]] = {}
    for name in PACKAGES:
        for file in (repository_dir / name).rglob("*.py"):
            if file.name != "__main__.py":  # the door into a package: nobody imports it
                folder = ".".join(("earshot", *file.relative_to(repository_dir).parts[:-1]))
                imported.setdefault(folder, set()).update(imports_of(file) - {folder})
    TopologicalSorter(imported).prepare()


def imports_of(file: Path) -> set[str]:
    """The folders of the modules that a file of ours imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.startswith("earshot."):
                is_folder = (ROOT / Path(*name.split(".")[1:])).is_dir()
                found.add(name if is_folder else name.rpartition(".")[0])
    return found


def test_every_import_of_ours_leads_to_a_module(repository_dir: Path) -> None:
    """Also in scripts that nobody imports, and in functions that no test calls."""
    wanted = {
        (name, file)
        for file in python_files(repository_dir)
        for node in ast.walk(ast.parse(file.read_text()))
        for name in names_of_modules(node)
        if name.split(".")[0] in ("earshot", "tests", "benchmarks")
    }
    assert len(wanted) > 1000
    assert sorted(f"{file}: {name}" for name, file in wanted if not is_module(name)) == []


def names_of_modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


@cache
def is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the folder is missing too
        return False


IMPORT_ALL = """
import collections, importlib, os, pkgutil, sys
import earshot
for module in pkgutil.walk_packages(earshot.__path__, "earshot."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
root = os.path.realpath(".")
ours = [os.path.join(root, package) for package in (*sys.argv[1:], "earshot")]
names = collections.defaultdict(set)
for name, module in sys.modules.items():
    file = os.path.realpath(getattr(module, "__file__", None) or "/")
    if any(file.startswith(package + os.sep) for package in ours):
        names[file].add(name)
assert len(names) > 300, len(names)
twice = {file: found for file, found in names.items() if len(found) > 1}
assert not twice, twice
"""


def test_every_module_has_one_name() -> None:
    subprocess.run([sys.executable, "-c", IMPORT_ALL, *PACKAGES, "web"], check=True, cwd=ROOT)


def test_tests_are_no_packages(repository_dir: Path) -> None:
    """With an ``__init__.py`` ``tests/streaming`` would shadow the package ``streaming``."""
    assert list((repository_dir / "tests").rglob("__init__.py")) == []


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs"])
def test_relative_links_lead_somewhere(repository_dir: Path, document: str) -> None:
    start = repository_dir / document
    files = [start] if start.is_file() else list(start.rglob("*.md"))
    dead = [
        f"{file.relative_to(repository_dir)}: {target}"
        for file in files
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", file.read_text())
        if not (file.parent / target).exists()
    ]
    assert dead == []


def test_operations_names_every_setting(repository_dir: Path) -> None:
    text = (repository_dir / "docs" / "operations.md").read_text()
    assert [name for name in Settings.model_fields if f"`{name}`" not in text] == []


def test_operations_names_every_metric(repository_dir: Path) -> None:
    text = (repository_dir / "docs" / "operations.md").read_text()
    described = {metric.name for metric in Metrics().registry.collect()}
    ours = {name for name in described if name.startswith("earshot_")}
    assert ours
    assert [name for name in ours if not re.search(rf"`{name}(_total)?\b", text)] == []


def test_alerts_use_metrics_that_operations_names(repository_dir: Path) -> None:
    text = (repository_dir / "docs" / "operations.md").read_text()
    alerts = (repository_dir / "deploy" / "alerts.yml").read_text()
    used = {re.sub(r"_bucket$", "", name) for name in re.findall(r"earshot_\w+", alerts)}
    assert used
    assert [name for name in used if f"`{name}" not in text] == []


def test_no_more_docstrings_begin_without_a_noun(repository_dir: Path) -> None:
    found = list(openings(repository_dir))
    assert len(found) <= STILL_TO_DO, "\n".join(found)


def test_an_opening_without_a_noun_is_found() -> None:
    bad = ["Of both.", "As found.", "Those that stay.", "What is left.", "What it takes."]
    good = ["The kept words.", "What a pool says.", "Office hours.", "Assign."]
    assert [text for text in bad + good if NOUNLESS.match(text)] == bad


def openings(repository_dir: Path) -> Iterator[str]:
    """Places and first lines of the product's docstrings without a noun first."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for package in PACKAGES:
        for file in sorted((repository_dir / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                told = ast.get_docstring(node) if isinstance(node, kinds) else None
                if told and NOUNLESS.match(told):
                    place = f"{file.relative_to(repository_dir)}:{getattr(node, 'lineno', 1)}"
                    yield f"{place}: {told.splitlines()[0]}"
