"""Which checkpoints are kept, and what their average is."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from earshot.training.errors import TrainingStateError
from earshot.training.recipe.checkpoint_config import Kept
from earshot.training.run.averaging import ScoredCheckpoint, average_checkpoints, keep, mixed_with


def save(path: Path, weight: float, count: int = 1, name: str = "weight") -> Path:
    torch.save({name: torch.full((2,), weight), "count": torch.tensor(count)}, path)
    return path


def test_the_average_is_the_mean(tmp_path: Path) -> None:
    paths = [save(tmp_path / f"{weight}.pt", weight) for weight in (1.0, 2.0, 6.0)]
    average = average_checkpoints(paths)
    assert torch.equal(average["weight"], torch.tensor([3.0, 3.0]))
    assert average["weight"].dtype == torch.float32


def test_integers_come_from_the_first(tmp_path: Path) -> None:
    paths = [save(tmp_path / "a.pt", 1.0, count=5), save(tmp_path / "b.pt", 1.0, count=9)]
    assert average_checkpoints(paths)["count"].item() == 5


def test_other_tensors_are_refused_by_name(tmp_path: Path) -> None:
    paths = [save(tmp_path / "a.pt", 1.0), save(tmp_path / "b.pt", 1.0, name="bias")]
    with pytest.raises(TrainingStateError, match=r"b\.pt"):
        average_checkpoints(paths)


def test_nothing_has_no_average() -> None:
    with pytest.raises(ValueError, match="no checkpoints"):
        average_checkpoints([])


@pytest.mark.parametrize(("which", "kept"), [("best", [3, 2]), ("last", [4, 3])])
def test_the_best_are_kept_and_of_equals_the_latest_or_the_last(
    tmp_path: Path, which: Kept, kept: list[int]
) -> None:
    errors = {1: 0.5, 2: 0.3, 3: 0.3, 4: 0.9}
    checkpoints = [
        ScoredCheckpoint(error, step, save(tmp_path / f"{step}.pt", error))
        for step, error in errors.items()
    ]
    assert [each.step for each in keep(checkpoints, 2, which)] == kept
    assert {path.name for path in tmp_path.iterdir()} == {f"{step}.pt" for step in kept}


def test_a_share_of_other_weights_is_mixed_in_and_integers_stay() -> None:
    weights = {"weight": torch.tensor([1.0, 2.0]), "count": torch.tensor(5)}
    others = {"weight": torch.tensor([3.0, 0.0]), "count": torch.tensor(0)}
    mixed = mixed_with(weights, others, 0.25)
    assert mixed["weight"].tolist() == [1.5, 1.5]
    assert mixed["weight"].dtype == torch.float32
    assert mixed["count"].item() == 5
