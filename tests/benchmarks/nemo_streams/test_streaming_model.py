"""A random model speaks as often as it is asked to."""

import pytest
import torch
from random_nemo import babble
from torch.nn.utils.rnn import pad_sequence

from benchmarks.nemo_streams.streaming_model import FRAMES_HZ, SIZES, model_config, speaking_model
from benchmarks.transducer.decoding import Batch
from benchmarks.transducer.speaking_heads import LABELS_HZ
from benchmarks.transducer.torch_label_looping import TorchLabelLooping
from earshot.models.fastconformer.config import FastConformerModelConfig
from earshot.models.fastconformer.model import FastConformerModel


def test_its_head_says_so_many_labels_a_second_of_what_its_encoder_hears(
    small_config: FastConformerModelConfig,
) -> None:
    recordings = [torch.from_numpy(babble(40.0, seed, pause_s=0.1)) for seed in range(6)]
    held = recordings[4:]
    model = speaking_model(small_config, recordings[:4], held)
    assert model.transducer is not None
    with torch.inference_mode():
        features = [model.features(each)[None] for each in held]
        frames = [model.encode(each, torch.tensor([each.size(1)]))[0][0] for each in features]
        lengths = [len(each) for each in frames]
        batch = Batch(pad_sequence(frames, batch_first=True), lengths, FRAMES_HZ)
        found = TorchLabelLooping(model.transducer)(batch)
    labels = [token for each in found for token in each.tokens]
    assert len(labels) / batch.audio_s == pytest.approx(LABELS_HZ, rel=0.05)
    assert len(set(labels)) > 0.5 * small_config.vocab_size


@pytest.mark.parametrize("size", SIZES)
def test_the_benchmarks_model_hears_in_chunks_of_four_sizes(size: str) -> None:
    encoder = model_config(size).encoder
    pairs = [(each.left, each.right) for each in encoder.contexts]
    assert pairs == [(70, 13), (70, 6), (70, 1), (70, 0)]


@pytest.mark.parametrize(("size", "millions"), [("114m", 114), ("600m", 615)])
def test_a_size_has_the_parameters_that_it_is_called_by(size: str, millions: int) -> None:
    with torch.device("meta"):
        model = FastConformerModel(model_config(size))
    assert sum(each.numel() for each in model.parameters()) / 1e6 == pytest.approx(
        millions, rel=0.01
    )
