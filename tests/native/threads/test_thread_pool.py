"""The pool of threads alone, in C++, and again under ThreadSanitizer."""

from pathlib import Path

import pytest
from thread_check import SANITIZERS, compiled, require

BEHAVIOURS = (
    "runs_more_shares_than_threads",
    "grows_to_the_largest_number_asked_for",
    "runs_no_more_at_once_than_asked",
    "serves_concurrent_callers",
    "serves_calls_within_shares",
    "throws_what_a_share_throws",
    "survives_forks",
)


@pytest.fixture(scope="module", params=SANITIZERS)
def check(
    request: pytest.FixtureRequest, repository_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The compiled program."""
    csrc = repository_dir / "native" / "csrc"
    return compiled("thread_pool", request.param, csrc, tmp_path_factory.mktemp("thread_pool"))


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_the_pool(check: Path, behaviour: str) -> None:
    require(check, behaviour)
