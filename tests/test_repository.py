"""What holds for the repository as a whole."""

import re
import tomllib
from pathlib import Path

import pytest

from earshot.service.core.metrics import Metrics
from earshot.service.settings import Settings


def python_files(repository_dir: Path) -> list[Path]:
    packages = ("service", "streaming", "models", "decoder_kernels", "benchmarks")
    return [file for name in packages for file in (repository_dir / name).rglob("*.py")]


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


def test_no_source_file_is_longer_than_400_lines(repository_dir: Path) -> None:
    files = python_files(repository_dir)
    assert files
    assert [str(f) for f in files if len(f.read_text().splitlines()) > 400] == []


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
