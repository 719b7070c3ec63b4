"""A FastConformer before its first update."""

from __future__ import annotations

from itertools import chain

import torch
from torch import Tensor, nn

from earshot.models.fastconformer.config import FastConformerModelConfig
from earshot.models.fastconformer.layer import FastConformerLayer
from earshot.models.fastconformer.model import FastConformerModel

BRANCH_SHARE = 0.3
"""Of the weights that end a residual branch: at first a layer passes on what it hears."""

HEAD_SHARE, BLANK_LOGIT = 0.3, 3.0
"""Of the weights that end a head, and its blank: it begins undecided, but for silence."""


def fresh_student(
    config: FastConformerModelConfig, mean: Tensor, istd: Tensor, seed: int
) -> FastConformerModel:
    """A student with random weights, the same ones from the same seed.

    mean, istd: (F,) of the features that it will hear. An archive of NeMo's has no place for them,
    so the first convolution begins with their means over all bins.
    """
    torch.manual_seed(seed)
    model = FastConformerModel(config)
    for module in model.encoder.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
        if isinstance(module, nn.Conv2d | nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    with torch.no_grad():
        for weight in chain.from_iterable(map(_branch_ends, model.encoder.layers)):
            weight *= BRANCH_SHARE
        _normalise(model, float(mean.mean()), float(istd.mean()))
        _begin_heads(model)
    return model


def _branch_ends(layer: nn.Module) -> tuple[Tensor, ...]:
    assert isinstance(layer, FastConformerLayer)
    return (
        layer.feed_forward1.linear2.weight,
        layer.self_attn.linear_out.weight,
        layer.conv.pointwise_conv2.weight,
        layer.feed_forward2.linear2.weight,
    )


def _normalise(model: FastConformerModel, mean: float, scale: float) -> None:
    first = model.encoder.pre_encode.conv[0]
    assert isinstance(first, nn.Conv2d)
    assert first.bias is not None
    first.weight *= scale
    first.bias -= mean * first.weight.sum(dim=(1, 2, 3))


def _begin_heads(model: FastConformerModel) -> None:
    assert model.ctc is not None
    assert model.transducer is not None
    blank = model.config.vocab_size
    for output in (model.ctc.output, model.transducer.joint.output):
        output.weight *= HEAD_SHARE
        output.bias[blank] = BLANK_LOGIT
    # Nothing said is all zeros, as the loss and NeMo have it.
    model.transducer.predictor.embed.weight[blank] = 0.0
