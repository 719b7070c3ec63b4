"""What streams choose of a search, as the search counts it."""

import itertools

import pytest

from earshot.decoder_kernels.graph.wfst_options import WfstOptions, fixed


@pytest.mark.parametrize("asked", [0.0, 0.3, 0.9, 1.0, 1 / 3, 100.0])
def test_a_scale_is_rounded_to_16_bits(asked: float) -> None:
    scale = WfstOptions(graph_scale=asked).graph_scale
    assert scale * 2**16 == round(asked * 2**16)
    assert abs(scale - asked) <= 2**-17


def test_what_whole_steps_cost_does_not_depend_on_where_they_lie() -> None:
    """Of three parts of a cost in any grouping; a scale that is not rounded parts them."""
    parts = (0.00390625, 12.34765625, 3.03515625)
    scale = WfstOptions(graph_scale=0.9).graph_scale
    for cut in itertools.pairwise(range(4)):
        together = sum(parts[slice(*cut)])
        rest = sum(parts) - together
        assert fixed(together * scale) + fixed(rest * scale) == fixed(sum(parts) * scale)
    assert sum(fixed(part * 0.9) for part in parts) != fixed(sum(parts) * 0.9)
