"""The loss of U2 and U2++: CTC and attention at once (Yao 2021, Wu 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.config import LossConfig
from earshot.models.layers.masks import padding_mask
from earshot.models.u2.decoder import TransformerDecoder
from earshot.models.u2.u2 import U2Model
from earshot.training.network.ctc_losses import ctc_losses


@dataclass(frozen=True)
class TrainingLoss:
    """Scalars, each a sum over tokens divided by the number of utterances (WeNet's scale)."""

    total: Tensor
    ctc: Tensor
    attention: Tensor


def joint_loss(
    model: U2Model,
    feats: Tensor,
    feat_lengths: Tensor,
    tokens: Tensor,
    token_lengths: Tensor,
    chunk_size: int = -1,
    num_left_chunks: int = -1,
) -> TrainingLoss:
    """Joint CTC/attention loss of a batch (Yao 2021, eq. 1; Wu 2021, eq. 2).

    feats (B, T, F) with lengths (B,); tokens (B, U) int64, padded on the right with any valid
    id, with lengths (B,) of at least 1; `chunk_size` and `num_left_chunks` as in
    `Encoder.forward`. Differentiable; dropout is on in train mode. An utterance that is too short
    for its tokens counts zero in the CTC part.
    """
    weights = model.config.loss
    memory, memory_lengths = model.encoder(feats, feat_lengths, chunk_size, num_left_chunks)
    batch = feats.size(0)
    ctc = attention = memory.new_zeros(())
    if weights.ctc_weight > 0.0:
        log_probs = model.ctc_log_probs(memory)
        blank_id = model.config.blank_id
        each = ctc_losses(log_probs, memory_lengths, tokens, token_lengths, blank_id)
        ctc = each.sum() / batch
    if weights.ctc_weight < 1.0:
        targets = padding_mask(token_lengths, tokens.size(1))
        attention = _attention_loss(model, memory, memory_lengths, tokens, targets) / batch
    total = weights.ctc_weight * ctc + (1.0 - weights.ctc_weight) * attention
    return TrainingLoss(total, ctc, attention)


def _attention_loss(
    model: U2Model, memory: Tensor, memory_lengths: Tensor, tokens: Tensor, valid: Tensor
) -> Tensor:
    share = model.config.loss.reverse_weight
    loss = _decoder_loss(model, model.left_decoder, memory, memory_lengths, tokens, valid)
    if model.right_decoder is None or share == 0.0:
        return loss
    backwards = reverse_tokens(tokens, valid)
    reverse = _decoder_loss(model, model.right_decoder, memory, memory_lengths, backwards, valid)
    return (1.0 - share) * loss + share * reverse


def _decoder_loss(
    model: U2Model,
    decoder: TransformerDecoder,
    memory: Tensor,
    memory_lengths: Tensor,
    tokens: Tensor,
    valid: Tensor,
) -> Tensor:
    config = model.config
    inputs = functional.pad(tokens, (1, 0), value=config.sos_id)
    # One target more than tokens: <eos> at the first place that is not a token.
    targets = functional.pad(tokens.masked_fill(~valid, config.eos_id), (0, 1))
    targets[:, -1] = config.eos_id
    counted = functional.pad(valid, (1, 0), value=True)
    logits = decoder(memory, memory_lengths, inputs.unsqueeze(1)).squeeze(1)
    return smoothed_cross_entropy(logits[counted], targets[counted], config.loss)


def reverse_tokens(tokens: Tensor, valid: Tensor) -> Tensor:
    """Each row's valid tokens in reverse order; tokens and valid (B, U), padding on the right."""
    place = torch.arange(tokens.size(1), device=tokens.device)
    mirrored = valid.sum(dim=1, keepdim=True) - 1 - place
    return tokens.gather(1, mirrored.clamp(min=0))


def smoothed_cross_entropy(logits: Tensor, targets: Tensor, config: LossConfig) -> Tensor:
    """Divergence of softmax(logits) from a smoothed target, summed over rows (Szegedy 2016, §7).

    logits (N, V), targets (N,). The target has 1 - s, the other V - 1 units share s. Constant
    terms are left in, so that zero is the best there is.
    """
    log_probs = functional.log_softmax(logits, dim=-1, dtype=torch.float32)
    hit = log_probs.gather(1, targets.unsqueeze(1)).sum()
    smoothing, others = config.label_smoothing, logits.size(1) - 1
    if smoothing == 0.0:
        return -hit
    entropy = (1 - smoothing) * math.log(1 - smoothing) + smoothing * math.log(smoothing / others)
    share = smoothing / others
    cross = (1 - smoothing - share) * hit + share * log_probs.sum()
    return logits.size(0) * entropy - cross
