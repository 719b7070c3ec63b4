"""Cores are counted as the container has them, not as the machine does."""

import os

import pytest

from earshot.streaming import cores
from earshot.streaming.cores import usable_cores


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(cores, "_allowed", lambda: 8)


@pytest.mark.parametrize(
    ("content", "expected"),
    [("max 100000", 8), ("200000 100000", 2), ("150000 100000", 2), ("9999 100000", 1), ("?", 8)],
)
def test_a_container_has_what_it_is_given(tmp_path, content, expected):
    quota = tmp_path / "cpu.max"
    quota.write_text(content + "\n")
    assert usable_cores(quota) == expected


def test_without_a_container_it_is_what_the_process_may_run_on(monkeypatch, tmp_path):
    monkeypatch.setattr(cores, "_allowed", lambda: 3)
    assert usable_cores(tmp_path / "none") == 3
