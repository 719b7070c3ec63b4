import os
import time

import pytest

from benchmarks.peers.apart import apart
from benchmarks.wfst.streams import NotRun

# From Python 3.12 on, a warning: torch has threads. The child uses none of them.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def refused() -> int:
    raise NotRun("pip install something")


def broken() -> int:
    raise ValueError("no such beam")


def crashed() -> int:
    os._exit(7)


def reasons(found: list[int | NotRun]) -> list[int | str]:
    return [str(each) if isinstance(each, NotRun) else each for each in found]


def test_jobs_run_in_another_process_in_their_order() -> None:
    found = apart([lambda: 1, os.getpid], limit_s=30)
    assert found[0] == 1
    assert found[1] != os.getpid()


def test_a_job_that_fails_says_why_and_the_next_is_run() -> None:
    found = apart([refused, broken, lambda: 3], limit_s=30)
    assert reasons(found) == ["pip install something", "ValueError: no such beam", 3]


def test_after_a_crash_nothing_is_run() -> None:
    found = apart([lambda: 1, crashed, lambda: 3], limit_s=30)
    assert reasons(found) == [1, *["it ended its process with status 7"] * 2]


def test_a_job_that_never_ends_is_given_up() -> None:
    found = apart([lambda: 1, lambda: time.sleep(1000)], limit_s=3)
    assert reasons(found) == [1, "no result within 3 s"]
