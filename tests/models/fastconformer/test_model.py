"""A NeMo model from samples to what its heads say."""

import pytest
import torch
from nemo_golden import MODELS, TRANSDUCERS, GoldenReader, NemoGolden
from network_head import NetworkHead
from oracles import frame_looping
from torch import Tensor

from earshot.models.errors import ModelError
from earshot.models.fastconformer.config import (
    FastConformerConfig,
    FastConformerModelConfig,
    PromptConfig,
)
from earshot.models.fastconformer.model import FastConformerModel

TOLERANCE = 1e-4
ENCODER = FastConformerConfig(
    features_size=80, size=8, layers=1, heads=2, feed_forward_size=8, stem_channels=4
)


def encode_alone(golden: NemoGolden, clip: Tensor) -> Tensor:
    features = golden.model.features(clip).unsqueeze(0)
    encoded, _ = golden.model.encode(features, torch.tensor([features.shape[1]]))
    return encoded[0]


@pytest.mark.parametrize("name", MODELS)
def test_samples_become_nemos_encoded_frames(nemo_golden: GoldenReader, name: str) -> None:
    golden = nemo_golden(name)
    for clip, wanted in zip(golden.audio, golden.rows("encoded"), strict=True):
        found = encode_alone(golden, clip)
        torch.testing.assert_close(found, wanted, atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("name", TRANSDUCERS)
def test_samples_become_nemos_tokens(nemo_golden: GoldenReader, name: str) -> None:
    golden = nemo_golden(name)
    head = golden.model.transducer
    heard = [head.hear(encode_alone(golden, clip)) for clip in golden.audio]
    found = [frame_looping(NetworkHead(head), row, 10)[0].tokens for row in heard]
    wanted = golden.decoded["greedy"]["max_symbols_10"]["reference_single"]
    assert found == [each["tokens"] for each in wanted]


def test_a_model_with_a_prompt_has_to_be_told_a_language() -> None:
    prompt = PromptConfig(size=2, hidden_size=3)
    model = FastConformerModel(FastConformerModelConfig(5, ENCODER, has_ctc=True, prompt=prompt))
    with pytest.raises(ModelError, match="language"):
        model.encode(torch.zeros(1, 40, 80), torch.tensor([40]))


def test_a_model_without_a_prompt_takes_no_language() -> None:
    model = FastConformerModel(FastConformerModelConfig(5, ENCODER, has_ctc=True))
    with pytest.raises(ModelError, match="language"):
        model.encode(torch.zeros(1, 40, 80), torch.tensor([40]), languages=torch.tensor([0]))
