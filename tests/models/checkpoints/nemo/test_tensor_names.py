"""NeMo's names of tensors, and ours."""

import pytest
import torch

from earshot.models.checkpoints.nemo.tensor_names import rename_tensors
from earshot.models.errors import UnknownKeys


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("preprocessor.featurizer.window", "features.window"),
        ("preprocessor.featurizer.fb", "features.filters"),
        ("encoder.layers.0.conv.batch_norm.num_batches_tracked",) * 2,
        ("decoder.prediction.embed.weight", "transducer.predictor.embed.weight"),
        ("decoder.prediction.dec_rnn.lstm.bias_hh_l1", "transducer.predictor.lstm.bias_hh_l1"),
        ("joint.enc.weight", "transducer.joint.encoder.weight"),
        ("joint.pred.bias", "transducer.joint.predictor.bias"),
        ("joint.joint_net.2.weight", "transducer.joint.output.weight"),
        ("joint.joint_net.1.bias", "transducer.joint.output.bias"),
        ("decoder.decoder_layers.0.bias", "ctc.output.bias"),
        ("ctc_decoder.decoder_layers.0.weight", "ctc.output.weight"),
        ("prompt_kernel.2.weight", "prompt.2.weight"),
    ],
)
def test_a_tensor_has_its_place(theirs, ours):
    assert list(rename_tensors({theirs: torch.zeros(1)})) == [ours]


def test_filters_become_a_matrix_and_a_convolution_of_one_frame_a_map():
    bank, head = torch.rand(1, 80, 257), torch.rand(6, 4, 1)
    named = rename_tensors(
        {"preprocessor.featurizer.fb": bank, "decoder.decoder_layers.0.weight": head}
    )
    assert torch.equal(named["features.filters"], bank[0].T)
    assert torch.equal(named["ctc.output.weight"], head[:, :, 0])


@pytest.mark.parametrize(
    "name",
    [
        "spec_augmentation.spec_augment.x", "loss._loss.x", "ctc_loss.x", "wer.scores",
        "ctc_wer.words", "joint._wer.scores", "joint._loss.x", "encoder.pos_enc.pe",
    ],
)  # fmt: skip
def test_a_tensor_that_nothing_reads_is_left_out(name):
    assert rename_tensors({name: torch.zeros(1)}) == {}


@pytest.mark.parametrize(
    "name",
    [
        "decoder.prediction.other", "decoder.decoder_layers.1.weight", "joint.joint_net.0.weight",
        "speaker_kernel.0.weight", "joint.adapter_layer.x", "preprocessor.featurizer.mean",
    ],
)  # fmt: skip
def test_a_tensor_without_a_place_is_named(name):
    with pytest.raises(UnknownKeys) as caught:
        rename_tensors({name: torch.zeros(1), "joint.enc.bias": torch.zeros(1)})
    assert caught.value.names == {name}


def test_two_tensors_of_one_place_are_refused():
    layers = {f"joint.joint_net.{index}.bias": torch.zeros(1) for index in (1, 2)}
    with pytest.raises(UnknownKeys, match="joint_net"):
        rename_tensors(layers)
