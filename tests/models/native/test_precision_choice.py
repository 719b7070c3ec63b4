"""What an operator's choice of a precision means for a network."""

import pytest
from torch import nn

from earshot.models.native.precision_choice import LEAST_PARAMETERS, chosen_precision


@pytest.fixture(params=["avx512_bf16", "avx512", "portable"])
def fastest(request, monkeypatch) -> str:
    """The kinds of processor from this one on are there."""
    kinds = ["avx512_bf16", "avx512", "avx2", "portable"]
    own = kinds[kinds.index(request.param) :]
    monkeypatch.setattr("earshot.models.native.precision_choice.processors", lambda: own)
    return request.param


def network_of(parameters: int) -> nn.Module:
    return nn.Linear(1, parameters, bias=False)


def test_auto_rounds_large_networks_where_an_instruction_does(fastest):
    expected = "bfloat16" if fastest == "avx512_bf16" else "float32"
    assert chosen_precision("auto", network_of(LEAST_PARAMETERS)) == expected
    assert chosen_precision("auto", network_of(LEAST_PARAMETERS - 1)) == "float32"
    assert chosen_precision("auto", network_of(LEAST_PARAMETERS).double()) == "float32"


@pytest.mark.parametrize("asked", ["float32", "bfloat16", "int8"])
def test_what_is_asked_is_given_on_every_processor(fastest, asked):
    assert chosen_precision(asked, network_of(3)) == asked
    assert chosen_precision(asked, network_of(LEAST_PARAMETERS)) == asked
