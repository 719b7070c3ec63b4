"""Predictor and joint: NeMo's numbers, and the rules of a head's parts."""

from dataclasses import replace

import pytest
import torch
from nemo_golden import TRANSDUCERS, GoldenReader, NemoGolden

from earshot.models.transducer.transducer import Transducer
from earshot.models.transducer_config import TransducerConfig

TOLERANCE = 1e-4
CONFIG = TransducerConfig(vocab_size=5, encoder_size=6, predictor_size=4, joint_size=3)


@pytest.fixture(params=TRANSDUCERS)
def golden(request: pytest.FixtureRequest, nemo_golden: GoldenReader) -> NemoGolden:
    return nemo_golden(request.param)


@pytest.fixture
def head() -> Transducer:
    torch.manual_seed(1)
    return Transducer(replace(CONFIG, predictor_layers=2, durations=(0, 1, 2))).eval()


def test_the_predictor_puts_out_what_nemos_does(golden: NemoGolden) -> None:
    predictor, labels = golden.model.transducer.predictor, golden.arrays["prednet_tokens"]
    output, state = predictor(labels, predictor.start(len(labels)))
    torch.testing.assert_close(output, golden.arrays["prednet_out"][:, 0], atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(state.hidden, golden.arrays["prednet_h"], atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(state.cell, golden.arrays["prednet_c"], atol=TOLERANCE, rtol=0)


def test_frames_and_labels_are_projected_as_nemo_does(golden: NemoGolden) -> None:
    head, labels = golden.model.transducer, golden.arrays["prednet_tokens"]
    heard = head.hear(golden.arrays["encoded"].transpose(1, 2))
    said, _ = head.say(labels, head.predictor.start(len(labels)))
    torch.testing.assert_close(heard, golden.arrays["joint_enc_proj"], atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(said, golden.arrays["joint_pred_proj"][:, 0], atol=TOLERANCE, rtol=0)


def test_the_joint_puts_out_what_nemos_does(golden: NemoGolden) -> None:
    wanted = golden.arrays["joint_logsoftmax_cpu"]
    heard = golden.arrays["joint_enc_proj"][:1, : wanted.shape[1]]
    said = golden.arrays["joint_pred_proj"][:1]
    logits = golden.model.transducer.joint(heard, said)
    # On a CPU NeMo normalises over durations too.
    found = logits.log_softmax(-1).unsqueeze(2)
    torch.testing.assert_close(found, wanted, atol=TOLERANCE, rtol=0)


def test_a_row_says_the_same_in_company(head: Transducer) -> None:
    alone, _ = head.say(torch.tensor([2]), head.predictor.start(1))
    beside, _ = head.say(torch.tensor([0, 2, 5]), head.predictor.start(3))
    torch.testing.assert_close(beside[1:2], alone)


def test_the_state_remembers_labels_before_the_last(head: Transducer) -> None:
    _, after = head.say(torch.tensor([1]), head.predictor.start(1))
    first, _ = head.say(torch.tensor([2]), head.predictor.start(1))
    second, _ = head.say(torch.tensor([2]), after)
    assert not torch.allclose(first, second)


def test_logits_fall_into_labels_with_the_blank_and_durations(head: Transducer) -> None:
    labels, durations = head.split(torch.arange(9.0))
    assert labels.tolist() == [0, 1, 2, 3, 4, 5]
    assert durations.tolist() == [6, 7, 8]


@pytest.mark.parametrize("activation", ["relu", "sigmoid", "tanh"])
def test_the_joint_activates_the_sum_of_both_sides(activation: str) -> None:
    head = Transducer(replace(CONFIG, activation=activation)).eval()
    heard, said = torch.randn(2, 3), torch.randn(2, 3)
    expected = head.joint.output(getattr(torch, activation)(heard + said))
    torch.testing.assert_close(head.joint(heard, said), expected)
