"""What the CUDA half may cost: no change makes it worse unseen.

The budgets are the numbers of ``docs/benchmarks/gpu_counts.md``.
"""

import itertools
from collections.abc import Iterable
from pathlib import Path

import pytest
from emulator import Emulator, built

from benchmarks.cuda import cuda_counts, lm_counts, machine_code

pytestmark = pytest.mark.timeout(600)

NVCC_RELEASE = "13.0"  # of which the page's numbers are: another compiles the source differently
MARGIN = 0.03  # processors round posteriors differently: a way more or less
ROUNDING = 0.5
Table = list[list[str]]


@pytest.fixture(scope="module")
def nvcc() -> None:
    """Skips where the compiler is not the one that the budgets are for."""
    release = machine_code.nvcc_release()
    if release != NVCC_RELEASE:
        found = f"nvcc {release}" if release else "no nvcc"
        pytest.skip(f"the budgets are for nvcc {NVCC_RELEASE}, and here is {found}")


@pytest.fixture(scope="module")
def emulator(nvcc: None) -> Emulator:
    device = built()
    assert device is not None
    device.restart()
    return device


@pytest.fixture(scope="module")
def page(repository_dir: Path) -> str:
    return (repository_dir / "docs" / "benchmarks" / "gpu_counts.md").read_text()


def table_of(page: str, head: list[str]) -> Table:
    """The rows below the head, which the page has word for word."""
    _, _, rest = page.partition(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}\n")
    rows = itertools.takewhile(lambda line: line.startswith("|"), rest.splitlines())
    return [line.strip("| ").split(" | ") for line in rows]


def assert_as_on_page(found: Iterable[list[str]], page: str, rows: str = "") -> None:
    """The same rows, and numbers that are the same but for what processors do to them."""
    head, *counted = found
    written = {row[0]: row for row in table_of(page, head) if rows in row[0]}
    assert [row[0] for row in counted] == list(written)
    apart = [
        (row[0], title, expected, cell)
        for row in counted
        for title, cell, expected in zip(head[1:], row[1:], written[row[0]][1:], strict=True)
        if abs(number(cell) - number(expected)) > MARGIN * number(expected) + ROUNDING
    ]
    assert not apart, "write into the page what it is now, and why if it is more"


def number(cell: str) -> float:
    return float(cell.replace(",", ""))


@pytest.mark.emulated
def test_searches_cost_what_the_page_says(emulator: Emulator, page: str) -> None:
    costs = list(cuda_counts.count_searches(emulator))
    assert_as_on_page(cuda_counts.per_frame_table(costs), page)
    assert_as_on_page(cuda_counts.per_launch_table(costs), page)


@pytest.mark.emulated
def test_models_in_a_search_cost_what_the_page_says(emulator: Emulator, page: str) -> None:
    """Of one arm: each takes five seconds."""
    assert_as_on_page(lm_counts.count_models(emulator, "a new cache"), page, rows="a new cache")


@pytest.mark.nvcc
@pytest.mark.usefixtures("nvcc")
def test_machine_code_takes_what_the_page_says(page: str) -> None:
    assert_as_on_page(cuda_counts.machine_code_table([90]), page, rows="sm_90")


def test_every_kernel_has_a_name_and_a_row(page: str) -> None:
    head = ["kernel", *machine_code.COLUMNS]
    named = [f"{name}, sm_90" for name in machine_code.KERNELS.values()]
    assert sorted(row[0] for row in table_of(page, head) if "sm_90" in row[0]) == sorted(named)


def test_a_number_that_has_changed_is_noticed() -> None:
    page = "\n| per frame | a |\n|---|---|\n| barriers | 100 |\n"
    assert_as_on_page([["per frame", "a"], ["barriers", "103"]], page)
    with pytest.raises(AssertionError, match="write into the page"):
        assert_as_on_page([["per frame", "a"], ["barriers", "104"]], page)
