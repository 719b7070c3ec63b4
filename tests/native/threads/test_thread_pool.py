"""The pool of threads alone, in C++, and again under ThreadSanitizer."""

from collections.abc import Callable

import pytest
from target_machine import MACHINE

PROGRAM = "thread_pool_check"
BEHAVIOURS = (
    "runs_more_shares_than_threads",
    "grows_to_the_largest_number_asked_for",
    "runs_no_more_at_once_than_asked",
    "serves_concurrent_callers",
    "serves_calls_within_shares",
    "throws_what_a_share_throws",
    "survives_forks",
)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_the_pool(require: Callable[[str], None], behaviour: str) -> None:
    if MACHINE.emulator and behaviour == "survives_forks":
        pytest.skip("qemu 7.2 itself fails in the child of a process with threads")
    require(behaviour)
