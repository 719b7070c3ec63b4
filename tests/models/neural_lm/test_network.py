"""What the network sees, and which sizes it refuses."""

import pytest
import torch

from earshot.models.errors import ConfigError
from earshot.models.neural_lm.network import (
    MAX_BLOCKS,
    MAX_SIZE,
    NeuralLm,
    NeuralLmConfig,
    initialise,
)


def test_a_token_sees_what_is_before_it_and_nothing_else(network):
    tokens = torch.randint(0, 24, (2, 9))
    changed = tokens.clone()
    changed[:, 5] = (changed[:, 5] + 1) % 24
    before, after = network(tokens), network(changed)
    torch.testing.assert_close(before[:, :5], after[:, :5])
    assert (before[:, 5:] - after[:, 5:]).abs().amax(dim=-1).min() > 1e-3


def test_what_is_visible_can_be_said(network):
    tokens = torch.randint(0, 24, (1, 6))
    lower = torch.ones(1, 6, 6).tril().bool()
    torch.testing.assert_close(network(tokens, torch.arange(6)[None], lower), network(tokens))


def test_weights_before_training_follow_from_the_seed():
    weights = []
    for _ in range(2):
        torch.manual_seed(3)
        network = NeuralLm(NeuralLmConfig(vocab_size=50, size=16))
        initialise(network)
        weights.append(torch.cat([parameter.flatten() for parameter in network.parameters()]))
    assert torch.equal(*weights)


@pytest.mark.parametrize(
    ("sizes", "complaint"),
    [
        ({"size": 0}, "size is 0"),
        ({"vocab_size": MAX_SIZE + 1}, "vocab_size"),
        ({"blocks": MAX_BLOCKS + 1}, "blocks is 65, must be 1 to 64"),
        ({"heads": 3}, "multiple of heads"),
        ({"size": 9, "heads": 9}, "even"),
        ({"context": True}, "context is True"),
        ({"feed_forward": 12.5}, "feed_forward is 12.5"),
        ({"heads": "4"}, "heads is '4'"),
    ],
)
def test_sizes_that_make_no_network_are_refused(sizes, complaint):
    with pytest.raises(ConfigError, match=complaint):
        NeuralLmConfig(**sizes)
