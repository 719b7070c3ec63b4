"""The file of a head: what is written is read, and nothing else is."""

from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch

from earshot.models.errors import CheckpointError, NotACheckpoint
from earshot.models.turns.turn_head import STRETCHES, TurnHead
from earshot.models.turns.turn_head_file import FORMAT, load_turn_head, save_turn_head
from earshot.models.turns.turn_rule import TurnRule

RULE = TurnRule(0.1, 0.2, 0.7)
HEAD = TurnHead(torch.randn(len(STRETCHES), 4), torch.randn(len(STRETCHES), 4), RULE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "turns.safetensors"


def test_a_head_is_read_as_it_was_written(path: Path) -> None:
    save_turn_head(path, HEAD)
    found = load_turn_head(path, "cpu")
    assert torch.equal(found.weights, HEAD.weights)
    assert torch.equal(found.means, HEAD.means)
    assert (found.rule, found.width) == (RULE, 4)


def test_another_file_is_no_head(path: Path) -> None:
    safetensors.torch.save_file({"weights": torch.zeros(1)}, path, {"format": "pt"})
    with pytest.raises(NotACheckpoint, match="is not a head for the ends of turns"):
        load_turn_head(path, "cpu")


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (replace(HEAD, weights=HEAD.weights[1:]), "weights is"),
        (replace(HEAD, weights=HEAD.weights[:, :2]), "means is"),
        (replace(HEAD, weights=HEAD.weights[:, :0], means=HEAD.means[:, :0]), "no weights"),
        (replace(HEAD, weights=HEAD.weights[0]), "weights is"),
        (replace(HEAD, means=HEAD.means * torch.nan), "means"),
        (replace(HEAD, weights=HEAD.weights.long()), "int64"),
        (replace(HEAD, rule=TurnRule(pause=0.0)), "its rule is"),
        (replace(HEAD, rule=TurnRule(end=-1.0)), "its rule is"),
        (replace(HEAD, rule=TurnRule(bias=1e300)), "its rule is"),
        (replace(HEAD, rule=TurnRule(pause=1e-300)), "its rule is"),
        (replace(HEAD, rule=TurnRule(bias=float("nan"))), "its rule is"),
    ],
)
def test_a_damaged_head_is_refused(path: Path, head: TurnHead, why: str) -> None:
    save_turn_head(path, head)
    with pytest.raises(CheckpointError, match=why):
        load_turn_head(path, "cpu")


@pytest.mark.parametrize(
    ("rule", "why"),
    [({}, "its rule has no 'bias'"), ({"bias": "1", "end": "1", "pause": "one"}, "is no number")],
)
def test_a_rule_wants_all_its_weights(path: Path, rule: dict[str, str], why: str) -> None:
    tensors = {"weights": HEAD.weights, "means": HEAD.means}
    safetensors.torch.save_file(tensors, path, {"format": FORMAT, **rule})
    with pytest.raises(CheckpointError, match=why):
        load_turn_head(path, "cpu")


def test_a_cut_file_is_no_head(path: Path) -> None:
    save_turn_head(path, HEAD)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(NotACheckpoint):
        load_turn_head(path, "cpu")
