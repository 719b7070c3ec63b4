"""A team of threads alone, in C++, and again under ThreadSanitizer."""

from pathlib import Path

import pytest
from thread_check import SANITIZERS, compiled, require

BEHAVIOURS = (
    "runs_over_each_item_once",
    "sees_in_a_loop_what_the_last_one_wrote",
    "wakes_helpers_that_fell_asleep",
    "throws_what_a_part_throws",
    "ends_when_the_leader_throws",
    "serves_concurrent_callers",
)


@pytest.fixture(scope="module", params=SANITIZERS)
def check(
    request: pytest.FixtureRequest, repository_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The compiled program."""
    csrc = repository_dir / "native" / "csrc"
    return compiled("team", request.param, csrc, tmp_path_factory.mktemp("team"))


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_the_team(check: Path, behaviour: str) -> None:
    require(check, behaviour)
