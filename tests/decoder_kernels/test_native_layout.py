"""What Python and the kernels' source both write down is the same."""

import re
from pathlib import Path

import pytest
from results_oracle.nbest import BACKPOINTER

from earshot.decoder_kernels.graph import wfst_key, wfst_options, wfst_tables
from earshot.decoder_kernels.wfst import wfst_memory

CONSTANT = re.compile(r"^inline constexpr \w+ (\w+) = ([-+*/<()\d. ]+);", re.MULTILINE)
FIELD = re.compile(r"^  (?:int|std::int64_t) (\w+);", re.MULTILINE)


@pytest.fixture
def source(repository_dir: Path) -> dict[str, str]:
    """The headers by name."""
    headers = (repository_dir / "decoder_kernels" / "csrc").glob("*/*.h")
    return {header.name: header.read_text() for header in headers}


@pytest.mark.parametrize(
    ("header", "name", "value"),
    [
        ("wfst_state.h", "LABEL_BITS", wfst_key.LABEL_BITS),
        ("wfst_state.h", "CONTEXT_BITS", wfst_key.CONTEXT_BITS),
        ("wfst_state.h", "GAIN_SHIFT", wfst_tables.GAIN_SHIFT),
        ("wfst_state.h", "MAX_GAIN_STEPS", wfst_tables.MAX_GAIN_STEPS),
        ("wfst_state.h", "GAIN_STEP", wfst_tables.GAIN_STEP),
        ("wfst_state.h", "EXCESS_STEP", wfst_tables.EXCESS_STEP),
        ("fixed_cost.h", "ONE_NAT", 1 << wfst_options.FRACTION_BITS),
        ("fixed_cost.h", "MAX_COST", wfst_options.MAX_COST),
        ("block_cuda.h", "MAX_BLOCK_THREADS", wfst_memory.MAX_BLOCK_THREADS),
    ],
)
def test_constants_are_those_of_the_kernels(
    source: dict[str, str], header: str, name: str, value: float
) -> None:
    constants = dict(CONSTANT.findall(source[header]))
    assert eval(constants[name], {"__builtins__": {}}) == value


def test_a_key_has_room_for_all_its_parts() -> None:
    assert wfst_key.NODE_BITS + wfst_key.NODE_SHIFT == 64


def test_records_have_the_fields_of_the_kernels(source: dict[str, str]) -> None:
    [struct] = re.findall(
        r"^struct WfstBackpointer \{\n(.*?)^\};", source["wfst_search.h"], re.M | re.S
    )
    assert tuple(FIELD.findall(struct)) == BACKPOINTER.names
    assert (
        f"static_assert(sizeof(WfstBackpointer) == {BACKPOINTER.itemsize})"
        in source["wfst_search.h"]
    )
