"""The pool of threads alone, in C++, and again under ThreadSanitizer."""

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BEHAVIOURS = (
    "runs_more_shares_than_threads",
    "grows_to_the_largest_number_asked_for",
    "runs_no_more_at_once_than_asked",
    "serves_concurrent_callers",
    "serves_calls_within_shares",
    "throws_what_a_share_throws",
    "survives_forks",
)
FLAGS = {"plain": [], "tsan": ["-fsanitize=thread", "-g"]}


@pytest.fixture(scope="module", params=FLAGS)
def check(
    request: pytest.FixtureRequest, repository_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The compiled program."""
    csrc = repository_dir / "native" / "csrc"
    program = tmp_path_factory.mktemp("thread_pool") / request.param
    sources = [HERE / "thread_pool_check.cpp", csrc / "threads" / "thread_pool.cpp"]
    warnings = ["-Wall", "-Wextra", "-Werror", f"-I{csrc}", "-pthread"]
    flags = ["-std=c++20", "-O1", *warnings, *FLAGS[request.param]]
    subprocess.run(["g++", *flags, *sources, "-o", program], check=True)
    return program


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_the_pool(check: Path, behaviour: str) -> None:
    # A child with threads of its own is what is tested; the sanitizer only mistrusts it.
    environment = os.environ | {"TSAN_OPTIONS": "die_after_fork=0"}
    done = subprocess.run(
        [check, behaviour], env=environment, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
