"""Environments are made once for their packages."""

from pathlib import Path

import pytest

from benchmarks.clients import environments
from benchmarks.clients.environments import Environment


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """What would have been run."""
    told: list[list[str]] = []
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    monkeypatch.setattr(environments, "_run", lambda command, folder: told.append(command))
    return told


def test_what_is_bare_comes_without_what_it_requires(commands: list[list[str]]) -> None:
    Environment("one", ("a==1",), bare=("b==2",)).make()
    assert [command[1:] for command in commands] == [
        ["-m", "venv", str(environments.FOLDER / "one")],
        ["-m", "pip", "install", "--quiet", "a==1"],
        ["-m", "pip", "install", "--quiet", "--no-deps", "b==2"],
    ]


def test_it_is_made_again_at_another_version_alone(commands: list[list[str]]) -> None:
    for version in ("a@1.0", "a@1.0", "a@2.0"):
        Environment("one", (version,), is_node=True).make()
    assert [command[-1] for command in commands] == ["a@1.0", "a@2.0"]


def test_a_failed_installation_says_why_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    fails = ["sh", "-c", "echo no such package >&2; exit 1"]
    monkeypatch.setattr(Environment, "_python", lambda self: [fails])
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no such package"):
            Environment("one", ("a==1",)).make()
