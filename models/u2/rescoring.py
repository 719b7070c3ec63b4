"""Attention scores of hypotheses: the second pass of U2 (Yao 2021, section 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.models.u2.decoder import TransformerDecoder
from earshot.models.u2.u2 import U2Model


@dataclass(frozen=True)
class AttentionScores:
    """Log-probabilities of N hypotheses under the attention decoders.

    left, right (N,): sums over the tokens and the final <eos>. left_token_log_probs and
    right_token_log_probs: one (n,) list per hypothesis in the order of its tokens, without the
    <eos>. A model without a right decoder has zeros for `right` and None for its lists.
    """

    left: Tensor
    right: Tensor
    left_token_log_probs: list[list[float]]
    right_token_log_probs: list[list[float]] | None


@dataclass(frozen=True)
class _Grid:
    """Hypotheses by stream: targets (S, N, U) with <eos> after the last token, padded with it.

    cells: where each hypothesis went, as (stream, place) for its number. lengths count <eos>.
    """

    inputs: Tensor
    targets: Tensor
    cells: tuple[Tensor, Tensor]
    lengths: Tensor


@torch.inference_mode()
def attention_scores(
    model: U2Model,
    memory: Tensor,
    memory_lengths: Tensor,
    hypotheses: Sequence[Sequence[int]],
    owner: Sequence[int],
    reverse: bool = True,
) -> AttentionScores:
    """Scores hypotheses of many streams in one batch.

    memory (S, T, D) with lengths (S,): encoder output of S streams; `hypotheses`: N token
    sequences, possibly empty; `owner`: for each the row of memory that it is about. Each stream's
    memory is projected once, however many hypotheses it has. `reverse=False` leaves the right
    decoder out, for when its weight is zero.
    """
    left = _decoder_scores(model, model.left_decoder, memory, memory_lengths, hypotheses, owner)
    right_decoder = model.right_decoder if reverse else None
    if right_decoder is None:
        return AttentionScores(left[0], torch.zeros_like(left[0]), left[1], None)
    mirrored = [list(reversed(tokens)) for tokens in hypotheses]
    right = _decoder_scores(model, right_decoder, memory, memory_lengths, mirrored, owner)
    by_token = [list(reversed(values)) for values in right[1]]
    return AttentionScores(left[0], right[0], left[1], by_token)


def _decoder_scores(
    model: U2Model,
    decoder: TransformerDecoder,
    memory: Tensor,
    memory_lengths: Tensor,
    hypotheses: Sequence[Sequence[int]],
    owner: Sequence[int],
) -> tuple[Tensor, list[list[float]]]:
    """Total (N,) and each hypothesis' token log-probabilities."""
    if not hypotheses:
        return memory.new_zeros(0, dtype=torch.float32), []
    grid = _arrange(model, hypotheses, owner, memory.size(0), memory.device)
    logits = decoder(memory, memory_lengths, grid.inputs)
    log_probs = logits.float().log_softmax(-1).gather(-1, grid.targets.unsqueeze(-1)).squeeze(-1)
    rows = log_probs[grid.cells]  # (N, U)
    counted = torch.arange(rows.size(1), device=rows.device) < grid.lengths.unsqueeze(1)
    totals = rows.masked_fill(~counted, 0.0).sum(dim=1)
    tokens = [row[: len(h)] for row, h in zip(rows.tolist(), hypotheses, strict=True)]
    return totals, tokens


def _arrange(
    model: U2Model,
    hypotheses: Sequence[Sequence[int]],
    owner: Sequence[int],
    streams: int,
    device: torch.device,
) -> _Grid:
    counts = [0] * streams
    places = []
    for stream in owner:
        places.append(counts[stream])
        counts[stream] += 1
    width = max(map(len, hypotheses)) + 1
    sos, eos = model.config.sos_id, model.config.eos_id
    targets = torch.full((streams, max(counts), width), eos)
    for stream, place, tokens in zip(owner, places, hypotheses, strict=True):
        targets[stream, place, : len(tokens)] = torch.tensor(tokens, dtype=torch.int64)
    inputs = torch.cat((torch.full_like(targets[..., :1], sos), targets[..., :-1]), dim=-1)
    lengths = torch.tensor([len(tokens) + 1 for tokens in hypotheses])
    cells = (torch.tensor(owner), torch.tensor(places))
    return _Grid(
        inputs.to(device),
        targets.to(device),
        (cells[0].to(device), cells[1].to(device)),
        lengths.to(device),
    )
