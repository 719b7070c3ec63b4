"""The convolution module against torch's own convolutions."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from earshot.models.fastconformer.config import FastConformerConfig
from earshot.models.fastconformer.convolution import Convolution


def module_of(**options: object) -> Convolution:
    torch.manual_seed(0)
    return Convolution(FastConformerConfig(20, 8, 1, 1, 8, 4, kernel=5, **options)).eval()


@pytest.mark.parametrize(("causal", "padding"), [(False, (2, 2)), (True, (4, 0))])
@pytest.mark.parametrize("norm", ["batch_norm", "layer_norm"])
@torch.no_grad()
def test_it_is_what_its_parts_make_in_turn(
    causal: bool, padding: tuple[int, int], norm: str
) -> None:
    module, x = module_of(causal_convolution=causal, conv_norm=norm), torch.randn(2, 9, 8)
    y = functional.glu(module.pointwise_conv1(x.mT), dim=1)
    y = module.depthwise_conv(functional.pad(y, padding))
    over_channels = isinstance(module.batch_norm, nn.LayerNorm)
    y = module.batch_norm(y.mT).mT if over_channels else module.batch_norm(y)
    expected = module.pointwise_conv2(functional.silu(y)).mT
    found = module(x, torch.ones(2, 9, dtype=torch.bool))
    torch.testing.assert_close(found, expected)


@torch.no_grad()
def test_padded_frames_are_zeros_to_their_neighbours() -> None:
    module, x = module_of(), torch.randn(1, 9, 8)
    valid = torch.arange(9).unsqueeze(0) < 6
    alone = module(x[:, :6], valid[:, :6])
    torch.testing.assert_close(module(x, valid)[:, :6], alone)
