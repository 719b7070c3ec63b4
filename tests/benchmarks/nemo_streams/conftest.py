"""A small streaming transducer."""

import pytest
import torch
from random_nemo import CHUNKS, SMALL

from earshot.models.config import FeatureConfig
from earshot.models.fastconformer.config import FastConformerConfig, FastConformerModelConfig
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.transducer_config import TransducerConfig

UNITS = 48


@pytest.fixture(scope="session")
def small_config() -> FastConformerModelConfig:
    return FastConformerModelConfig(
        UNITS,
        FastConformerConfig(**SMALL | {"feed_forward_size": 2 * SMALL["size"]}, **CHUNKS),
        FeatureConfig(kind="nemo", num_mel_bins=SMALL["features_size"]),
        TransducerConfig(UNITS, SMALL["size"], 32, 32),
    )


@pytest.fixture(scope="session")
def small_model(small_config: FastConformerModelConfig) -> FastConformerModel:
    torch.manual_seed(4)
    model = FastConformerModel(small_config).eval().requires_grad_(False)
    for name, parameter in model.named_parameters():
        if "norm" not in name:  # zeros, as biases begin, hide mistakes
            parameter.normal_(std=0.35)
    return model
