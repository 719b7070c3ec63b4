"""Weights in a network: of whose memory they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from earshot.models.checkpoints.files.stored_tensors import StoredFile, StoredPlace, store
from earshot.models.checkpoints.filled_network import fill
from earshot.models.checkpoints.layout import without_memory
from earshot.models.errors import DamagedWeights, NotACheckpoint
from earshot.models.native.late_weights import bring_all, bring_weights


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


def stored(path: Path, tensor: Tensor) -> Tensor:
    """A tensor whose numbers are in a file of its own."""
    path.write_bytes(tensor.numpy().tobytes())
    left = torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
    with path.open("rb") as file:
        store(left, StoredPlace(StoredFile(file, str(path)), 0))
    return left


def half_late(folder: Path, one: Tensor, other: Tensor) -> nn.Module:
    """A network with its weights in files, of which `other` may come late."""
    made = network()
    weights = {
        "one.weight": stored(folder / "one", one),
        "other.weight": stored(folder / "other", other),
    }
    fill(made, weights, given_up=True, late=[made.get_submodule("other")])
    return made


def test_weights_in_a_file_come_when_they_are_brought(tmp_path):
    given = [torch.randn(3, 2), torch.randn(3, 2)]
    made = half_late(tmp_path, *given)
    one, other = made.parameters()
    assert torch.equal(one, given[0])
    assert other.is_meta
    bring_all(made)
    one, other = made.parameters()
    assert torch.equal(other, given[1])
    assert not other.requires_grad
    assert torch.equal(one, given[0])


def test_weights_in_memory_do_not_wait():
    made = network()
    given = torch.randn(3, 2)
    fill(made, {"one.weight": given, "other.weight": given}, late=[made.get_submodule("other")])
    assert all(torch.equal(weights, given) for weights in made.parameters())


def test_weights_that_wait_are_checked_before(tmp_path):
    with pytest.raises(DamagedWeights, match=r"other\.weight"):
        half_late(tmp_path, torch.randn(3, 2), torch.full((3, 2), torch.nan))


def write_over(path: Path, tensor: Tensor) -> None:
    """Other numbers in the same place, a moment later."""
    with path.open("r+b") as file:
        file.write(tensor.numpy().tobytes())
    written_ns = path.stat().st_mtime_ns + 1_000_000_000
    os.utime(path, ns=(written_ns, written_ns))


def test_weights_that_were_written_over_while_they_waited_are_none(tmp_path):
    made = half_late(tmp_path, torch.randn(3, 2), torch.randn(3, 2))
    write_over(tmp_path / "other", torch.randn(3, 2))
    with pytest.raises(NotACheckpoint, match="other was written to while it was read"):
        bring_weights(made.get_submodule("other"))


def test_a_file_that_was_replaced_by_another_is_read_on(tmp_path):
    given = torch.randn(3, 2)
    made = half_late(tmp_path, torch.randn(3, 2), given)
    (tmp_path / "new").write_bytes(torch.randn(3, 2).numpy().tobytes())
    (tmp_path / "new").replace(tmp_path / "other")
    bring_all(made)
    assert torch.equal(dict(made.named_parameters())["other.weight"], given)


def test_weights_whose_file_was_cut_while_they_waited_are_a_named_error(tmp_path):
    made = half_late(tmp_path, torch.randn(3, 2), torch.randn(3, 2))
    (tmp_path / "other").write_bytes(b"")
    with pytest.raises(NotACheckpoint, match="other has become shorter"):
        bring_all(made)
