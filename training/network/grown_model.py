"""A trained model with a fresh transducer's head on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.transducer_config import TransducerConfig
from earshot.models.u2.u2 import U2Model
from earshot.training.errors import RecipeError


def grown_model(start: Path, config: TransducerConfig, seed: int) -> U2Model:
    """The model at `start` with a fresh head; nothing but the head has gradients.

    Raises ModelError for a start that is missing or broken, RecipeError for one that has a head.
    """
    loaded = start_of(start)
    old = u2_of(loaded)
    torch.manual_seed(seed)
    model = U2Model(replace(old.config, transducer=config))
    missing, superfluous = model.load_state_dict(old.state_dict(), strict=False)
    assert not superfluous
    assert all(name.startswith("transducer.") for name in missing)
    model.requires_grad_(False)
    head = model.transducer
    assert head is not None
    head.requires_grad_(True)
    # Nothing said is all zeros, as the loss and NeMo have it.
    nn.init.zeros_(head.predictor.embed.weight.data[head.config.blank_id])
    return model


def start_of(start: Path) -> LoadedModel:
    """The model that a head is to grow on. Raises like `grown_model`."""
    loaded = load_model(start)
    if u2_of(loaded).transducer is not None:
        raise RecipeError(f"start.model: {start} has a transducer's head already")
    return loaded


def head_weights(model: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    """Weights that a grown model learns, by their names in it."""
    return ((name, each) for name, each in model.named_parameters() if each.requires_grad)
