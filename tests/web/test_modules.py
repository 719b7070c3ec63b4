"""Runs the tests of the page's pure modules (modules/**/*.test.mjs) under Node."""

import shutil
import subprocess
from pathlib import Path

import pytest

MODULE_TESTS = sorted((Path(__file__).parent / "modules").rglob("*.test.mjs"))
OLDEST_NODE = 20


@pytest.fixture(scope="module")
def node() -> str:
    """Node's path; skips where it is missing or too old."""
    path = shutil.which("node")
    if path is None:
        pytest.skip(f"Node {OLDEST_NODE} or newer is missing")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").split(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node {OLDEST_NODE} or newer is needed, here is {version.strip()}")
    return path


@pytest.mark.parametrize("file", MODULE_TESTS, ids=lambda file: file.name)
def test_module(node: str, file: Path) -> None:
    run = subprocess.run([node, "--test", str(file)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout
