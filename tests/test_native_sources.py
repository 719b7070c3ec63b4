"""What is compiled, formatted and packed: every native source, in whichever folder it lies."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

COMPILED = re.compile(r"\.(c|cc|cpp|cxx|cu|cuh|h|hpp)$")
BUILD_FILE = re.compile(r"(^|/)CMakeLists\.txt$|\.cmake$")


def output_of(repository_dir: Path, *command: str) -> str:
    environment = os.environ | {"MAKEFLAGS": ""}  # not those of the `make test` that runs this
    ended = subprocess.run(
        command, cwd=repository_dir, check=True, capture_output=True, text=True, env=environment
    )
    return ended.stdout


@pytest.fixture(scope="module")
def tracked(repository_dir: Path) -> list[str]:
    if not (repository_dir / ".git").exists():
        pytest.skip("no git repository: what is tracked is not known")
    return output_of(repository_dir, "git", "ls-files").splitlines()


@pytest.fixture(scope="module")
def make_database(repository_dir: Path) -> str:
    """Every rule and variable of the Makefile, as make understood them."""
    return output_of(repository_dir, "make", "-pn", "help")


def native(tracked: list[str]) -> list[str]:
    return [name for name in tracked if COMPILED.search(name)]


def test_setup_compiles_again_when_any_native_source_changes(
    tracked: list[str], make_database: str
) -> None:
    (stamp,) = re.findall(r"^\.venv/\.ready:(.*)$", make_database, re.M)
    # What lies in tests/ and benchmarks/ is no part of the package: what needs it compiles it.
    packaged = [name for name in tracked if not name.startswith(("tests/", "benchmarks/"))]
    wanted = {name for name in packaged if COMPILED.search(name) or BUILD_FILE.search(name)}
    assert len(wanted) > 50
    assert sorted(wanted - set(stamp.split())) == []


def test_make_formats_every_native_source(tracked: list[str], make_database: str) -> None:
    (sources,) = re.findall(r"^CSRC = \$\(shell git ls-files (.*)\)$", make_database, re.M)
    kinds = {pattern.strip("'").removeprefix("*") for pattern in sources.split()}
    assert [name for name in native(tracked) if Path(name).suffix not in kinds] == []


def test_the_format_hook_takes_every_native_source(
    repository_dir: Path, tracked: list[str]
) -> None:
    hooks = yaml.safe_load((repository_dir / ".pre-commit-config.yaml").read_text())
    (hook,) = [each for each in hooks["repos"][0]["hooks"] if each["id"] == "clang-format"]
    assert [name for name in native(tracked) if not re.search(hook["files"], name)] == []


def test_images_are_built_from_every_package(repository_dir: Path) -> None:
    """All but training, which is no part of the wheel either."""
    linked = {link.name for link in (repository_dir / "earshot").iterdir() if link.is_symlink()}
    let_in = (repository_dir / ".dockerignore").read_text().splitlines()
    assert {name for name in linked if f"!{name}" not in let_in} == {"training"}
