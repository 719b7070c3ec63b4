"""What a call carries to a host, weighed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from earshot.training.errors import LuggageError
from earshot.training.luggage import Load, check_loads, checkout_bytes, loads
from earshot.training.pieces import cut


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """700 bytes that travel, and what does not: files that are ignored, or were removed."""
    folder = tmp_path / "checkout"
    (folder / "build").mkdir(parents=True)
    (folder / ".gitignore").write_text("build/\n", encoding="utf-8")
    for name, size in (("code", 600), ("new", 93), ("gone", 50), ("build/made", 5000)):
        (folder / name).write_bytes(bytes(size))
    for command in (("init",), ("add", ".gitignore", "code", "gone")):
        subprocess.run(["git", "-C", str(folder), *command], check=True, capture_output=True)
    (folder / "gone").unlink()
    return folder


@pytest.fixture
def luggage(tmp_path: Path) -> Path:
    """Wheels of 300 bytes, and pieces."""
    folder = tmp_path / "luggage"
    cut({"code": Path(__file__)}, folder, 400)
    (folder / "wheels").mkdir()
    (folder / "wheels" / "one.whl").write_bytes(bytes(300))
    return folder


def test_a_checkout_weighs_what_git_does_not_ignore(checkout: Path) -> None:
    assert checkout_bytes(checkout) == 700


def test_what_git_does_not_know_cannot_be_weighed(tmp_path: Path) -> None:
    with pytest.raises(LuggageError, match="git"):
        checkout_bytes(tmp_path / "nowhere")


def test_wheels_go_with_the_first_call(checkout: Path, luggage: Path) -> None:
    first, second, *_ = loads(checkout, luggage)
    table = (luggage / "pieces.json").stat().st_size
    assert first == Load(700, 300, table + 400)
    assert second == Load(700, 0, table + 400)


def test_a_call_that_carries_too_much_is_refused_with_its_parts() -> None:
    mib = 1 << 20
    calls = [Load(3 * mib, 5 * mib, 48 * mib), Load(45 * mib, 0, 48 * mib)]
    check_loads(calls[:1], 64 * mib)
    with pytest.raises(LuggageError, match=r"call 2 .* 93.0 MiB \(checkout 45.0, piece 48.0\)"):
        check_loads(calls, 64 * mib)
