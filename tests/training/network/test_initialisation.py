import copy
import math

import torch

from earshot.training.network.initialisation import InitConfig, initialise


def initialised(model, seed=0, **options):
    torch.manual_seed(seed)
    fresh = copy.deepcopy(model)
    initialise(fresh, InitConfig(**options))
    return fresh


@torch.no_grad()
def test_the_ctc_head_starts_undecided(tiny_model):
    model = initialised(tiny_model)
    torch.manual_seed(1)
    encoded, _ = model.encoder(torch.randn(2, 90, 80), torch.tensor([90, 90]))
    log_probs = model.ctc_log_probs(encoded)
    assert float((log_probs + math.log(11)).abs().max()) < 1.0


@torch.no_grad()
def test_the_blank_can_be_held_back(tiny_model):
    model = initialised(tiny_model, ctc_scale=0.0, blank_bias=-2.0)
    log_probs = model.ctc_log_probs(torch.randn(3, tiny_model.config.encoder.encoded_size))
    torch.testing.assert_close(log_probs[:, 0] + 2.0, log_probs[:, 1])


def test_residual_outputs_are_scaled_and_nothing_else(tiny_models):
    model = tiny_models["conformer"]
    plain, scaled = initialised(model, residual_scale=1.0), initialised(model, residual_scale=0.5)
    outputs = ("w_2.weight", "linear_out.weight", "pointwise_conv2.weight")
    for (name, one), half in zip(plain.named_parameters(), scaled.parameters(), strict=True):
        factor = 0.5 if name.endswith(outputs) else 1.0
        torch.testing.assert_close(half, factor * one, msg=name)


def test_every_branch_of_a_stack_shares_the_default_scale(tiny_models):
    model = tiny_models["conformer"]
    plain, default = initialised(model, residual_scale=1.0), initialised(model)
    key = "encoder.encoders.0.conv_module.pointwise_conv2.weight"
    branches = 2 * 4  # two blocks of feed-forward, attention, convolution, feed-forward
    expected = plain.get_parameter(key) / math.sqrt(branches)
    torch.testing.assert_close(default.get_parameter(key), expected)


def test_norms_and_statistics_are_left_alone(tiny_models):
    model = tiny_models["conformer_bn_k8_conv1d6"]
    fresh = initialised(model)
    for name, buffer in model.named_buffers():
        torch.testing.assert_close(fresh.get_buffer(name), buffer)
    assert float(fresh.encoder.after_norm.bias.abs().sum()) == 0.0
