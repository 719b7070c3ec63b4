"""`import earshot`: a few names, which cost nothing until they are used."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import earshot
from earshot.decoder_kernels.errors import KernelError
from earshot.models.errors import ModelError
from earshot.service.errors import ServiceError
from earshot.streaming.errors import StreamingError
from earshot.training.errors import TrainingError

KINDS = {".py", ".md", ".js", ".html", ".toml", ".yml", ".sh"}


def test_importing_earshot_loads_nothing_heavy() -> None:
    script = (
        "import sys, earshot\n"
        "heavy = {'torch', 'numpy', 'pydantic', 'av', 'asyncio'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", earshot.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(earshot, name).__name__ == name
    assert name in dir(earshot)


def test_the_version_is_that_of_the_package(repository_dir: Path) -> None:
    project = tomllib.loads((repository_dir / "pyproject.toml").read_text())["project"]
    assert earshot.__version__ == project["version"]


def test_no_other_name_is_listed() -> None:
    assert {*dir(earshot)} == {*earshot.__all__, "__version__"}


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'transcibe'"):
        getattr(earshot, "transcibe")  # noqa: B009


@pytest.mark.parametrize(
    "kind", [KernelError, ModelError, ServiceError, StreamingError, TrainingError]
)
def test_every_package_raises_errors_of_earshot(kind: type[Exception]) -> None:
    assert issubclass(kind, earshot.EarshotError)


def test_nobody_is_told_to_install_what_is_named_earshot_on_pypi(repository_dir: Path) -> None:
    """That is a voice activity detector by others; ours is `earshot-asr`."""
    folders = ("service", "streaming", "training", "language", "models", "decoder_kernels", "web")
    files = [*repository_dir.glob("*.*"), *repository_dir.glob("Docker*")]
    for folder in (*folders, "docs", "deploy", "benchmarks"):
        files += [file for file in (repository_dir / folder).rglob("*.*") if file.suffix in KINDS]
    told = [
        f"{file}: {line}"
        for file in files
        if file.is_file()
        for line in re.findall(r".*pip3? install.*", file.read_text(errors="replace"))
        if re.search(r"""[\s'"]earshot(?![\w-])""", line.partition("pip")[2])
    ]
    assert told == []
