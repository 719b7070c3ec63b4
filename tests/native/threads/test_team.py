"""A team of threads alone, in C++, and again under ThreadSanitizer."""

from collections.abc import Callable

import pytest

PROGRAM = "team_check"
BEHAVIOURS = (
    "runs_over_each_item_once",
    "sees_in_a_loop_what_the_last_one_wrote",
    "wakes_helpers_that_fell_asleep",
    "throws_what_a_part_throws",
    "ends_when_the_leader_throws",
    "serves_concurrent_callers",
)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_the_team(require: Callable[[str], None], behaviour: str) -> None:
    require(behaviour)
