"""The real NeMo's models with their outputs, and a small random encoder of each kind."""

from __future__ import annotations

import pytest
import torch
from nemo_golden import MODELS, GoldenReader, NemoGolden

from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder

SMALL = {"features_size": 20, "size": 16, "layers": 2, "heads": 2, "feed_forward_size": 24}
KINDS = {
    "fastconformer": {"stem_channels": 6, "kernel": 5},
    "conformer": {"stem_channels": 8, "subsampling": "striding", "subsampling_factor": 4},
    "streaming": {
        "stem_channels": 6,
        "causal_stem": True,
        "causal_convolution": True,
        "conv_norm": "layer_norm",
        "normalise": "none",
        "contexts": (AttentionContext(4, 1),),
        "context_style": "chunked_limited",
    },
    "shared": {"stem_channels": 6, "shared_positions": True, "use_bias": False},
}


@pytest.fixture(scope="session", params=MODELS)
def golden(request: pytest.FixtureRequest, nemo_golden: GoldenReader) -> NemoGolden:
    return nemo_golden(request.param)


@pytest.fixture(scope="session", params=tuple(KINDS))
def small_encoder(request: pytest.FixtureRequest) -> FastConformerEncoder:
    torch.manual_seed(0)
    encoder = FastConformerEncoder(FastConformerConfig(**SMALL, **KINDS[request.param])).eval()
    with torch.no_grad():
        for layer in encoder.layers:  # zeros hide mistakes
            layer.self_attn.pos_bias_u.normal_()
            layer.self_attn.pos_bias_v.normal_()
    return encoder
