"""Parts of a model that learn at rates of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from earshot.training.errors import RecipeError
from earshot.training.recipe.optimiser_config import OptimiserConfig
from earshot.training.recipe.rate_groups import group_of, rate_groups, set_learning
from earshot.training.run.descent import Descent

RATES = {"encoder": 1e-4, "heads": 3e-3}
CONFIG = OptimiserConfig(
    peak_rate=1e-3, group_rates=RATES, frozen_groups=("encoder",), frozen_steps=5
)


@pytest.fixture
def named() -> dict[str, nn.Parameter]:
    names = ("encoder.embed.weight", "encoder.narrow.weight", "phone_ctc.weight", "decoder.ln.bias")
    return {name: nn.Parameter(torch.ones(2)) for name in names}


def test_a_layer_that_narrows_is_as_new_as_the_heads() -> None:
    assert group_of("encoder.encoders.0.norm1.weight") == "encoder"
    assert group_of("encoder.narrow.bias") == "heads"
    assert group_of("ctc.output.weight") == "heads"
    assert group_of("decoder.blocks.0.ln.weight") == "decoder"


def test_a_vocabulary_learns_with_its_decoder_unless_it_is_named() -> None:
    assert group_of("decoder.token_embedding.weight") == "vocabulary"
    assert group_of("decoder.positional_embedding") == "vocabulary"
    decoder = replace(CONFIG, group_rates={"decoder": 0.0}, frozen_groups=("decoder",))
    assert (decoder.rate_of("vocabulary"), decoder.rests_first("vocabulary")) == (0.0, True)
    named = replace(decoder, group_rates={"vocabulary": 1e-5}, frozen_groups=("encoder",))
    assert (named.rate_of("vocabulary"), named.rests_first("vocabulary")) == (1e-5, False)


def test_each_group_has_its_share_of_the_rate(named: dict[str, nn.Parameter]) -> None:
    groups = rate_groups(named.items(), CONFIG)
    assert [(group.name, len(group.parameters)) for group in groups] == [
        ("encoder", 1),
        ("heads", 2),
        ("decoder", 1),
    ]
    assert [group.share for group in groups] == pytest.approx([0.1, 3.0, 1.0])


def test_a_recipe_of_one_rate_has_one_group(named: dict[str, nn.Parameter]) -> None:
    (group,) = rate_groups(named.items(), OptimiserConfig())
    assert (len(group.parameters), group.share) == (4, 1.0)


def test_what_rests_gets_no_gradient_until_its_time(named: dict[str, nn.Parameter]) -> None:
    groups = rate_groups(named.items(), replace(CONFIG, group_rates={**RATES, "decoder": 0.0}))
    learning = []
    for step in (4, 5):
        set_learning(groups, step)
        learning.append([name for name, each in named.items() if each.requires_grad])
    heads = ["encoder.narrow.weight", "phone_ctc.weight"]
    assert learning == [heads, ["encoder.embed.weight", *heads]]


def test_a_step_moves_each_group_by_its_rate(named: dict[str, nn.Parameter]) -> None:
    groups = rate_groups(named.items(), CONFIG)
    optimiser = torch.optim.SGD([{"params": group.parameters} for group in groups])
    loss = torch.stack([each.sum() for each in named.values()]).sum()
    shares = [group.share for group in groups]
    Descent(optimiser, named.values(), 1e9).step(loss, 0.1, shares)
    moved = {name: float(1.0 - each.detach()[0]) for name, each in named.items()}
    assert moved["encoder.embed.weight"] == pytest.approx(0.01)
    assert moved["phone_ctc.weight"] == pytest.approx(0.3)
    assert moved["decoder.ln.bias"] == pytest.approx(0.1)


def test_what_has_rested_warms_up_when_its_time_comes(named: dict[str, nn.Parameter]) -> None:
    encoder, heads, _ = rate_groups(named.items(), CONFIG)
    shares = [encoder.share_at(step, warmup_steps=10) for step in (0, 4, 5, 9, 14, 15)]
    assert shares == pytest.approx([0.0, 0.0, 0.01, 0.05, 0.1, 0.1])
    assert heads.share_at(0, warmup_steps=10) == heads.share


def test_groups_that_no_model_has_are_named() -> None:
    with pytest.raises(RecipeError, match=r"group_rates: no group head; there are encoder"):
        OptimiserConfig(group_rates={"head": 1e-3})


@pytest.mark.parametrize("config", [CONFIG, OptimiserConfig()])
def test_weights_of_the_same_name_all_learn(config: OptimiserConfig) -> None:
    weights = [nn.Parameter(torch.ones(2)) for _ in range(2)]
    groups = rate_groups([("ctc.weight", weight) for weight in weights], config)
    learning = [parameter for group in groups for parameter in group.parameters]
    assert set(map(id, learning)) == set(map(id, weights))
