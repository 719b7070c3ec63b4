"""The examples of docs/python.md and README.md run, offline, and the document is complete."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import earshot

OFFLINE = """import sys
def no_sockets(event, arguments):
    if event.startswith("socket."):
        raise SystemExit(f"{event}{arguments}")
sys.addaudithook(no_sockets)
"""


def examples(document: Path) -> list[str]:
    found = re.findall(r"```python\n(.*?)```", document.read_text(), re.S)
    return [each for each in found if "import earshot" in each]


@pytest.fixture
def run(repository_dir, tmp_path):
    """Run a script where talk.opus lies; it may open no socket. What it writes."""
    samples = repository_dir / "web" / "samples"
    shutil.copy(samples / "iced-coffee.opus", tmp_path / "talk.opus")

    def do(script: str) -> str:
        ended = subprocess.run(
            [sys.executable, "-c", OFFLINE + script],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (ended.returncode, ended.stderr) == (0, "")
        return ended.stdout

    return do


def test_the_three_lines_of_the_readme_transcribe_a_file(run, repository_dir):
    (example,) = examples(repository_dir / "README.md")
    assert len(list(filter(None, example.splitlines()))) == 3
    assert run(example) == "i want an iced coffee with brown sugar\n"


def test_the_examples_of_the_document_run(run, repository_dir):
    file, live = examples(repository_dir / "docs" / "python.md")
    assert "iced coffee with brown sugar" in run(file).lower()
    assert run(live).splitlines()[-1] == "i want an iced coffee with brown sugar"


def test_every_public_name_is_described(repository_dir):
    document = (repository_dir / "docs" / "python.md").read_text()
    assert [name for name in earshot.__all__ if f"`{name}" not in document] == []


def test_a_program_that_closes_nothing_ends_in_peace(run):
    assert run("import earshot; t = earshot.Transcriber(graph='none'); print('done')") == "done\n"
