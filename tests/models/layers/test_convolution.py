from dataclasses import replace

import torch

from earshot.models.layers.convolution import ConvolutionModule, depthwise


@torch.no_grad()
def test_causal_output_does_not_see_the_future(tiny_config):
    torch.manual_seed(0)
    module = ConvolutionModule(tiny_config.encoder).eval()
    x = torch.randn(1, 9, 16)
    changed = x.clone()
    changed[:, 5:] += 1.0
    torch.testing.assert_close(module(changed, None)[:, :5], module(x, None)[:, :5])


@torch.no_grad()
def test_non_causal_output_sees_half_a_kernel_ahead(tiny_config):
    torch.manual_seed(0)
    module = ConvolutionModule(replace(tiny_config.encoder, causal=False)).eval()
    x = torch.randn(1, 9, 16)
    changed = x.clone()
    changed[:, 5:] += 1.0
    before, after = module(x, None)[0], module(changed, None)[0]
    torch.testing.assert_close(after[:3], before[:3])
    assert not torch.allclose(after[3], before[3])


@torch.no_grad()
def test_silence_is_what_the_gate_makes_of_zeros(tiny_config):
    torch.manual_seed(0)
    module = ConvolutionModule(tiny_config.encoder).eval()
    torch.testing.assert_close(module.gate(torch.zeros(1, 1, 16))[0, 0], module.silence())
    assert float(module.silence().abs().min()) > 0.0


@torch.no_grad()
def test_depthwise_equals_torchs_one_dimensional_convolution(tiny_config):
    torch.manual_seed(0)
    module = ConvolutionModule(tiny_config.encoder).eval()
    x = torch.randn(2, 12, 16)
    expected = module.depthwise_conv(x.transpose(1, 2)).transpose(1, 2)
    torch.testing.assert_close(depthwise(module.depthwise_conv, x), expected, rtol=0, atol=1e-6)
