"""Weights in a network: of whose memory they are."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from earshot.models.checkpoints.filled_network import fill
from earshot.models.checkpoints.layout import without_memory


def network() -> nn.Module:
    with without_memory():
        return nn.ModuleDict({"one": nn.Linear(2, 3, bias=False), "other": nn.Linear(2, 3, False)})


def filled(one: Tensor, other: Tensor, *, given_up: bool) -> list[Tensor]:
    made = network()
    fill(made, {"one.weight": one, "other.weight": other}, given_up=given_up)
    return list(made.parameters())


def test_weights_that_are_given_up_keep_their_memory() -> None:
    given = [torch.randn(3, 2), torch.randn(3, 2)]
    for found, own in zip(filled(*given, given_up=True), given, strict=True):
        assert found.data_ptr() == own.data_ptr()


@pytest.mark.parametrize("given_up", [False, True])
@pytest.mark.parametrize(
    "shared", [torch.randn(4, 2)[1:], torch.randn(2, 3).T, torch.randn(1, 2).expand(3, 2)]
)
def test_of_memory_that_holds_other_things_weights_are_copies(shared, given_up) -> None:
    [found, _] = filled(shared, torch.randn(3, 2), given_up=given_up)
    assert torch.equal(found, shared)
    assert found.is_contiguous()
    assert found.untyped_storage().nbytes() == found.nbytes
    assert found.data_ptr() != shared.data_ptr()


@pytest.mark.parametrize("given_up", [False, True])
def test_two_weights_never_share_their_memory(given_up) -> None:
    same = torch.randn(3, 2)
    one, other = filled(same, same, given_up=given_up)
    assert one.data_ptr() != other.data_ptr()
    assert torch.equal(one, other)


def test_weights_of_somebody_else_are_copies() -> None:
    given = torch.randn(3, 2)
    [found, _] = filled(given, torch.randn(3, 2), given_up=False)
    assert found.data_ptr() != given.data_ptr()


def test_other_floats_become_float32() -> None:
    given = torch.randn(3, 2).half()
    [found, _] = filled(given, torch.randn(3, 2), given_up=True)
    assert found.dtype == torch.float32
    assert torch.equal(found, given.float())
