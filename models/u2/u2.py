"""U2 / U2++: a streaming encoder with a CTC head and an attention decoder (Yao 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.config import EncoderConfig, LossConfig, ModelConfig
from earshot.models.layers.ctc import CtcHead
from earshot.models.layers.masks import padding_mask
from earshot.models.layers.phone_head import PhoneHead
from earshot.models.tdnnf_config import TdnnfConfig
from earshot.models.u2.decoder import BidirectionalDecoder, TransformerDecoder
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.streaming_encoder import StreamingEncoder
from earshot.models.u2.tdnnf_encoder import TdnnfEncoder


@dataclass(frozen=True)
class TrainingLoss:
    """Scalars, each a sum over tokens divided by the number of utterances (WeNet's scale)."""

    total: Tensor
    ctc: Tensor
    attention: Tensor


class U2Model(nn.Module):
    """Encoder, CTC head and decoder under one configuration; maybe a CTC head over phones."""

    decoder: TransformerDecoder | BidirectionalDecoder
    encoder: StreamingEncoder
    phone_ctc: PhoneHead | None

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        size = config.encoder.output_size
        self.encoder = build_encoder(config.encoder)
        self.ctc = CtcHead(config.vocab_size, size, config.blank_id)
        self.phone_ctc = None
        if config.phones:
            self.phone_ctc = PhoneHead(len(config.phones), config.phone_rate, size)
        if config.decoder.bidirectional:
            self.decoder = BidirectionalDecoder(config.decoder, config.vocab_size, size)
        else:
            blocks = config.decoder.num_blocks
            self.decoder = TransformerDecoder(config.decoder, blocks, config.vocab_size, size)

    @property
    def left_decoder(self) -> TransformerDecoder:
        """The left-to-right decoder."""
        if isinstance(self.decoder, BidirectionalDecoder):
            return self.decoder.left_decoder
        return self.decoder

    @property
    def right_decoder(self) -> TransformerDecoder | None:
        """The right-to-left decoder, None in a model without one."""
        if isinstance(self.decoder, BidirectionalDecoder):
            return self.decoder.right_decoder
        return None

    def ctc_log_probs(self, encoded: Tensor) -> Tensor:
        """(…, D) encoder frames to (…, V) log-probabilities, float32."""
        log_probs: Tensor = self.ctc(encoded)
        return log_probs

    def phone_log_probs(self, encoded: Tensor) -> Tensor:
        """(…, T, D) encoder frames to (…, T * phone_rate, phones + 1), float32; blank is 0.

        Only of a model with phones.
        """
        assert self.phone_ctc is not None
        log_probs: Tensor = self.phone_ctc(encoded)
        return log_probs

    def loss(
        self,
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
        `Encoder.forward`. Differentiable; dropout is on in train mode.
        """
        weights = self.config.loss
        memory, memory_lengths = self.encoder(feats, feat_lengths, chunk_size, num_left_chunks)
        batch = feats.size(0)
        ctc = attention = memory.new_zeros(())
        if weights.ctc_weight > 0.0:
            ctc = self.ctc.loss(memory, memory_lengths, tokens, token_lengths) / batch
        if weights.ctc_weight < 1.0:
            targets = padding_mask(token_lengths, tokens.size(1))
            attention = self._attention_loss(memory, memory_lengths, tokens, targets) / batch
        total = weights.ctc_weight * ctc + (1.0 - weights.ctc_weight) * attention
        return TrainingLoss(total, ctc, attention)

    def _attention_loss(
        self, memory: Tensor, memory_lengths: Tensor, tokens: Tensor, valid: Tensor
    ) -> Tensor:
        weights = self.config.loss
        loss = self._decoder_loss(self.left_decoder, memory, memory_lengths, tokens, valid)
        if self.right_decoder is None or weights.reverse_weight == 0.0:
            return loss
        reverse = self._decoder_loss(
            self.right_decoder, memory, memory_lengths, reverse_tokens(tokens, valid), valid
        )
        return (1.0 - weights.reverse_weight) * loss + weights.reverse_weight * reverse

    def _decoder_loss(
        self,
        decoder: TransformerDecoder,
        memory: Tensor,
        memory_lengths: Tensor,
        tokens: Tensor,
        valid: Tensor,
    ) -> Tensor:
        inputs = functional.pad(tokens, (1, 0), value=self.config.sos_id)
        # One target more than tokens: <eos> at the first place that is not a token.
        targets = functional.pad(tokens.masked_fill(~valid, self.config.eos_id), (0, 1))
        targets[:, -1] = self.config.eos_id
        counted = functional.pad(valid, (1, 0), value=True)
        logits = decoder(memory, memory_lengths, inputs.unsqueeze(1)).squeeze(1)
        return smoothed_cross_entropy(logits[counted], targets[counted], self.config.loss)


def build_encoder(config: EncoderConfig | TdnnfConfig) -> StreamingEncoder:
    """The encoder of the configured kind."""
    return TdnnfEncoder(config) if isinstance(config, TdnnfConfig) else Encoder(config)


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
