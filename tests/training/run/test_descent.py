"""Steps against a gradient, and against what is none."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from earshot.training.errors import Diverged
from earshot.training.run.descent import MOST_SKIPPED, Descent, require_usable


@pytest.fixture
def weight() -> nn.Parameter:
    return nn.Parameter(torch.tensor([3.0, 4.0]))


def of(weight: nn.Parameter) -> Descent:
    return Descent(torch.optim.SGD([weight]), [weight], max_norm=1.0)


def test_a_step_is_clipped_and_its_norm_told(weight: nn.Parameter) -> None:
    assert of(weight).step((weight**2).sum() / 2, rate=1.0) == pytest.approx(5.0)
    assert weight.tolist() == pytest.approx([2.4, 3.2])


@pytest.mark.parametrize("factor", [math.nan, math.inf])
def test_what_is_not_finite_is_left_out(weight: nn.Parameter, factor: float) -> None:
    descent = of(weight)
    assert math.isnan(descent.step((weight * factor).sum(), rate=1.0))
    constant = torch.tensor(factor)  # a gradient of zeros, of a loss that is no number
    assert math.isnan(descent.step((weight * 0).sum() + constant, rate=1.0))
    assert weight.tolist() == [3.0, 4.0]


def test_too_many_in_a_row_are_an_error(weight: nn.Parameter) -> None:
    descent = of(weight)
    for _ in range(3):
        for _ in range(MOST_SKIPPED - 1):
            descent.step((weight * math.nan).sum(), rate=0.0)
        descent.step(weight.sum(), rate=0.0)
    for _ in range(MOST_SKIPPED - 1):
        descent.step((weight * math.nan).sum(), rate=0.0)
    with pytest.raises(Diverged, match="20 updates in a row"):
        descent.step((weight * math.nan).sum(), rate=0.0)


@pytest.mark.parametrize("value", [math.nan, -math.inf, 1e5])
def test_weights_that_no_file_can_hold_are_an_error(value: float) -> None:
    network = nn.Linear(2, 1)
    require_usable(network)
    network.bias.data.fill_(value)
    with pytest.raises(Diverged, match="bias"):
        require_usable(network)
