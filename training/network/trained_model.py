"""The networks that a run can train."""

from __future__ import annotations

from typing import TypeAlias

from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.u2.u2 import U2Model

TrainedModel: TypeAlias = U2Model | FastConformerModel


def as_u2(model: TrainedModel) -> U2Model:
    """The model of a run without a student."""
    assert isinstance(model, U2Model)
    return model
