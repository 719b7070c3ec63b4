"""The parts of a profile are told by paths: each is that of a file."""

from pathlib import Path

from benchmarks.server.profile_server import PARTS, part_of


def test_the_files_that_tell_a_part_are_there(repository_dir: Path) -> None:
    files = [mark for _, marks in PARTS for mark in marks if "/" in mark and mark.endswith(".py")]
    assert files
    assert [file for file in files if not (repository_dir / file).is_file()] == []


def test_the_first_part_that_a_stack_runs_through_counts() -> None:
    stack = "_step (streaming/engine/engine_loop.py:112);score (streaming/parts/neural_lm.py:58)"
    assert part_of(stack) == "language model"
    assert part_of("run (elsewhere.py:1)") == "other"
