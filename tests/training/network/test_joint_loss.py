"""The joint training loss."""

import copy
import math
from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from earshot.models.config import LossConfig
from earshot.models.u2.rescoring import attention_scores
from earshot.models.u2.u2 import U2Model
from earshot.training.network.joint_loss import (
    joint_loss,
    reverse_tokens,
    smoothed_cross_entropy,
)


@pytest.fixture
def batch():
    """Features, their lengths, tokens and their lengths of three utterances."""
    torch.manual_seed(3)
    tokens = torch.randint(3, 11, (3, 5))
    return torch.randn(3, 90, 80), torch.tensor([90, 71, 50]), tokens, torch.tensor([5, 2, 1])


def with_loss(model: U2Model, **changes) -> U2Model:
    changed = copy.deepcopy(model)
    changed.config = replace(model.config, loss=replace(model.config.loss, **changes))
    return changed


def one(batch, index):
    """Utterance `index` alone, without padding."""
    feats, feat_lengths, tokens, token_lengths = batch
    frames, units = int(feat_lengths[index]), int(token_lengths[index])
    alone = feats[index : index + 1, :frames], tokens[index : index + 1, :units]
    return alone[0], torch.tensor([frames]), alone[1], torch.tensor([units])


@torch.no_grad()
def test_batch_loss_is_the_mean_over_utterances(tiny_model, batch):
    together = joint_loss(tiny_model, *batch, chunk_size=4, num_left_chunks=2)
    alone = [
        joint_loss(tiny_model, *one(batch, i), chunk_size=4, num_left_chunks=2) for i in range(3)
    ]
    for part in ("total", "ctc", "attention"):
        mean = sum(float(getattr(loss, part)) for loss in alone) / 3
        assert float(getattr(together, part)) == pytest.approx(mean, rel=1e-4)


@torch.no_grad()
def test_padding_may_hold_anything(tiny_model, batch):
    feats, feat_lengths, tokens, token_lengths = batch
    expected = joint_loss(tiny_model, *batch)
    tokens, feats = tokens.clone(), feats.clone()
    tokens[1, 2:], tokens[2, 1:], feats[2, 50:] = 7, 0, 1e3
    spoilt = joint_loss(tiny_model, feats, feat_lengths, tokens, token_lengths)
    assert float(spoilt.total) == pytest.approx(float(expected.total), rel=1e-4)


@torch.no_grad()
def test_ctc_part_is_torchs(tiny_models, batch):
    model, utterance = tiny_models["conformer"], one(batch, 0)
    encoded, lengths = model.encoder(*utterance[:2])
    log_probs = model.ctc_log_probs(encoded).transpose(0, 1)
    expected = functional.ctc_loss(log_probs, utterance[2], lengths, utterance[3], reduction="sum")
    assert float(joint_loss(model, *utterance).ctc) == pytest.approx(float(expected), rel=1e-5)


@torch.no_grad()
def test_attention_part_without_smoothing_is_the_decoders_score(tiny_models, batch):
    model = with_loss(tiny_models["conformer"], label_smoothing=0.0)
    utterance = one(batch, 0)
    encoded, lengths = model.encoder(*utterance[:2])
    scores = attention_scores(model, encoded, lengths, utterance[2].tolist(), [0])
    expected = -(0.7 * scores.left[0] + 0.3 * scores.right[0])
    assert float(joint_loss(model, *utterance).attention) == pytest.approx(expected, rel=1e-5)


@torch.no_grad()
def test_total_weighs_the_parts(tiny_models, batch):
    for weight in (0.0, 0.3, 1.0):
        loss = joint_loss(with_loss(tiny_models["conformer"], ctc_weight=weight), *batch)
        expected = weight * float(loss.ctc) + (1 - weight) * float(loss.attention)
        assert float(loss.total) == pytest.approx(expected)


@torch.no_grad()
def test_an_utterance_too_short_for_its_tokens_counts_zero(tiny_models):
    model = with_loss(tiny_models["conformer"], ctc_weight=1.0)
    tokens = torch.full((1, 9), 3)
    loss = joint_loss(model, torch.randn(1, 20, 80), torch.tensor([20]), tokens, torch.tensor([9]))
    assert float(loss.total) == 0.0


def test_smoothed_cross_entropy_is_the_divergence_from_the_smoothed_target():
    torch.manual_seed(0)
    logits, targets = torch.randn(6, 11), torch.randint(0, 11, (6,))
    for smoothing in (0.0, 0.1, 0.5):
        wanted = torch.full((6, 11), smoothing / 10)
        wanted.scatter_(1, targets.unsqueeze(1), 1 - smoothing)
        expected = functional.kl_div(logits.log_softmax(-1), wanted, reduction="sum")
        loss = smoothed_cross_entropy(logits, targets, LossConfig(label_smoothing=smoothing))
        assert float(loss) == pytest.approx(float(expected), rel=1e-5)


def test_the_best_smoothed_loss_is_zero():
    logits = torch.full((1, 11), math.log(0.01))
    logits[0, 4] = math.log(0.9)
    loss = smoothed_cross_entropy(logits, torch.tensor([4]), LossConfig(label_smoothing=0.1))
    assert float(loss) == pytest.approx(0.0, abs=1e-6)


def test_reversing_keeps_the_padding_on_the_right():
    tokens = torch.tensor([[1, 2, 3], [4, 5, 9]])
    valid = torch.tensor([[True, True, True], [True, True, False]])
    reversed_ = reverse_tokens(tokens, valid)
    assert reversed_[0].tolist() == [3, 2, 1]
    assert reversed_[1, :2].tolist() == [5, 4]


def test_gradients_reach_every_weight(tiny_model, batch):
    model = copy.deepcopy(tiny_model).train().requires_grad_(True)
    joint_loss(model, *batch, chunk_size=4, num_left_chunks=2).total.backward()
    silent = [name for name, weight in model.named_parameters() if weight.grad is None]
    assert silent == []
    assert all(torch.isfinite(weight.grad).all() for weight in model.parameters())


def test_training_is_deterministic_and_learns(tiny_models, batch):
    runs = []
    for _ in range(2):
        torch.manual_seed(5)
        model = copy.deepcopy(tiny_models["conformer"]).train().requires_grad_(True)
        optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
        losses = []
        for _ in range(12):
            loss = joint_loss(model, *batch, chunk_size=4).total
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        runs.append(losses)
    assert runs[0] == runs[1]
    assert runs[0][-1] < 0.8 * runs[0][0]
