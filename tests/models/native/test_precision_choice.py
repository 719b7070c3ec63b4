"""What an operator's choice of a precision means for a network."""

import pytest
import safetensors.torch
import torch
from torch import Tensor, nn

from earshot.models.checkpoints.files.int8_rows import restore_rows, store_rows
from earshot.models.checkpoints.files.safetensors_index import index_safetensors_file
from earshot.models.checkpoints.filled_network import fill
from earshot.models.native.precision_choice import LEAST_PARAMETERS, chosen_precision

CHOICE = "earshot.models.native.precision_choice"
AMD, INTEL = ("avx512_bf16", True), ("avx512_bf16", False)


@pytest.fixture(params=[AMD, INTEL, ("avx512", False), ("portable", False)])
def fastest(request, monkeypatch) -> tuple[str, bool]:
    """The kinds of processor from this one on are there; whether it gains by bfloat16."""
    kinds = ["avx512_bf16", "avx512", "avx2", "portable"]
    kind, gains = request.param
    own = kinds[kinds.index(kind) :]
    monkeypatch.setattr(f"{CHOICE}.processors", lambda: own)
    monkeypatch.setattr(f"{CHOICE}.multiplies_bfloat16_faster", lambda: gains)
    return kind, gains


def network_of(parameters: int) -> nn.Module:
    return nn.Linear(1, parameters, bias=False)


def of_rows(stored: bool) -> nn.Module:
    """Two layers of long rows, which all or but for one were stored as int8."""
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(1000, 3000), nn.Linear(3000, 1000)).requires_grad_(False)
    for layer in network if stored else network[:1]:
        numbers, scale = store_rows(layer.weight)
        layer.weight.copy_(numbers * scale[:, None])
    assert sum(own.numel() for own in network.parameters()) > LEAST_PARAMETERS
    return network


def test_auto_rounds_large_networks_where_instructions_gain(fastest):
    expected = "bfloat16" if fastest == AMD else "float32"
    assert chosen_precision("auto", network_of(LEAST_PARAMETERS)) == expected
    assert chosen_precision("auto", network_of(LEAST_PARAMETERS - 1)) == "float32"
    assert chosen_precision("auto", network_of(LEAST_PARAMETERS).double()) == "float32"


def test_auto_takes_int8_for_what_was_stored_so_where_instructions_gain(fastest):
    faster = fastest in (AMD, INTEL)
    assert chosen_precision("auto", of_rows(stored=True)) == ("int8" if faster else "float32")
    others = "bfloat16" if fastest == AMD else "float32"
    assert chosen_precision("auto", of_rows(stored=False)) == others


@pytest.mark.parametrize("as_rows", [False, True])
def test_auto_asks_weights_that_wait_in_a_file_how_they_were_stored(fastest, tmp_path, as_rows):
    network = nn.Sequential(nn.Linear(1, 1), *of_rows(stored=as_rows)).requires_grad_(False)
    expected = chosen_precision("auto", network)
    stored: dict[str, Tensor] = network.state_dict()
    for key in ("1.weight", "2.weight") if as_rows else ():
        stored[key], stored[f"{key}.scale"] = store_rows(stored[key])
    safetensors.torch.save_file(stored, tmp_path / "weights")
    weights = restore_rows(index_safetensors_file(tmp_path / "weights"))
    fill(network.to("meta"), weights, late=list(network[1:]))
    assert all(each.is_meta for each in network[1:].parameters())
    assert chosen_precision("auto", network) == expected


@pytest.mark.parametrize("asked", ["float32", "bfloat16", "int8", "w8a8"])
def test_what_is_asked_is_given_on_every_processor(fastest, asked):
    assert chosen_precision(asked, network_of(3)) == asked
    assert chosen_precision(asked, network_of(LEAST_PARAMETERS)) == asked
