"""What the CUDA half may cost: no change makes it worse unseen.

Counts as in ``docs/benchmarks/gpu_counts.md``. Who needs more writes it here, there, and why.
"""

from pathlib import Path

import machine_code
import pytest
from cuda_counts import Cost, count_searches
from emulator import Emulator, built

pytestmark = [pytest.mark.emulated, pytest.mark.timeout(600)]

MARGIN = 1.03  # processors round posteriors differently: a way more or less
PER_FRAME = {
    "graph, beam 17, 10,000 active": {
        "critical_instructions": 159_947,
        "barriers": 85.4,
        "global_atomics": 12_151,
        "shared_atomics": 40_908,
        "global_bytes": 3_213_252,
    },
    "graph, beam 12, 3,000 active": {
        "critical_instructions": 74_385,
        "barriers": 74.8,
        "global_atomics": 1_435,
        "shared_atomics": 5_269,
        "global_bytes": 451_005,
    },
    "prefixes, 10 of 500 units": {
        "critical_instructions": 12_234,
        "barriers": 19.2,
        "global_atomics": 0,
        "shared_atomics": 490,
        "global_bytes": 7_243,
    },
}
MACHINE_CODE = {  # sm_90: registers, stack, spilled bytes, bytes of code
    "graph advance": (64, 1_152, 328, 233_088),
    "graph forget boosts": (32, 1_216, 1_032, 95_360),
    "prefix advance": (64, 480, 0, 121_344),
}


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    device = built()
    assert device is not None
    device.restart()
    return device


@pytest.fixture(scope="module")
def costs(emulator: Emulator) -> dict[str, Cost]:
    return {cost.search: cost for cost in count_searches(emulator)}


@pytest.mark.parametrize("search", PER_FRAME)
def test_a_frame_costs_no_more_than_it_did(costs: dict[str, Cost], search: str) -> None:
    found = costs[search].per_frame
    over = {
        name: (round(found[name], 1), budget)
        for name, budget in PER_FRAME[search].items()
        if found[name] > MARGIN * budget
    }
    assert not over


@pytest.mark.nvcc
def test_machine_code_takes_no_more_than_it_did() -> None:
    found = {code.kernel: code for code in machine_code.compiled(90)}
    for kernel, budgets in MACHINE_CODE.items():
        code = found[kernel]
        sizes = (code.registers, code.stack_bytes, code.spilled_bytes, code.code_bytes)
        assert all(size <= MARGIN * budget for size, budget in zip(sizes, budgets, strict=True)), (
            kernel,
            sizes,
        )


def test_the_page_of_counts_has_these_numbers(repository_dir: Path) -> None:
    page = (repository_dir / "docs" / "benchmarks" / "gpu_counts.md").read_text()
    for budgets in PER_FRAME.values():
        assert f"{budgets['critical_instructions']:,}" in page
    for kernel, (registers, stack, spilled, code) in MACHINE_CODE.items():
        assert f"| {kernel}, sm_90 | {registers} | {stack:,} | {spilled:,} | {code:,} |" in page
