"""Beam search with the left-to-right attention decoder alone, for many streams at once.

WeNet's `attention` mode: each step extends every hypothesis by its best tokens and keeps the best
of all; one that ends in <eos> stays as it is. A stream is done when its whole beam has ended or
is as long as its memory; what the others still need does not touch it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.models.u2.decoder import KeysAndValues, source_mask
from earshot.models.u2.u2 import U2Model


@dataclass(frozen=True)
class AttentionHypothesis:
    """`tokens` without <sos> and <eos>; `score` is the sum of log-probabilities, <eos>'s too."""

    tokens: tuple[int, ...]
    score: float

    def normalised(self, length_penalty: float) -> float:
        """Score per token for a penalty of 1, the plain score for 0."""
        return self.score / float(max(len(self.tokens), 1) ** length_penalty)


@dataclass
class _Beams:
    """N hypotheses for each of S streams, best first.

    tokens (S, N, n), scores (S, N), ended (S, N) bool. `past`: the decoder's keys and values.
    """

    tokens: Tensor
    scores: Tensor
    ended: Tensor
    past: list[KeysAndValues] | None = None

    def select(self, rows: Tensor) -> _Beams:
        """The beams of some streams."""
        flat = _hypothesis_rows(rows, self.scores.size(1))
        past = None if self.past is None else _select_past(self.past, flat)
        return _Beams(self.tokens[rows], self.scores[rows], self.ended[rows], past)


@torch.inference_mode()
def attention_beam_search(
    model: U2Model,
    memory: Tensor,
    memory_lengths: Tensor,
    beam_size: int,
    length_penalty: float = 1.0,
    on_token: Callable[[], None] = lambda: None,
) -> list[list[AttentionHypothesis]]:
    """The beam of each stream, best first.

    memory (S, T, D), lengths (S,). A hypothesis grows to at most as many tokens as its memory has
    frames; `on_token` is called before each, which takes a pass of the decoder. The order is that
    of score / length ** length_penalty. WeNet's default of 0 prefers whatever ends early: label
    smoothing makes every token of even a perfect hypothesis cost about 0.1. Sources: WeNet's
    attention decoding; Yao 2021, section 2.1.2.
    """
    decoder, streams = model.left_decoder, memory.size(0)
    beam_size = min(beam_size, model.config.vocab_size)
    results: list[list[AttentionHypothesis]] = [[] for _ in range(streams)]
    running = torch.arange(streams, device=memory.device)
    beams = _first_beams(streams, beam_size, model.config.sos_id, memory.device)
    sources, mask = decoder.project_sources(memory), source_mask(memory, memory_lengths)
    while len(running):
        done = beams.ended.all(dim=1) | (memory_lengths[running] < beams.tokens.size(2))
        for row in done.nonzero().flatten().tolist():
            results[int(running[row])] = _read_beam(beams, row, model.config.eos_id)
        if bool(done.any()):
            going = (~done).nonzero().flatten()
            running, beams = running[going], beams.select(going)
            sources = [(keys[going], values[going]) for keys, values in sources]
            mask = None if mask is None else mask[going]
            continue
        on_token()
        logits, beams.past = decoder.step(sources, mask, beams.tokens[:, :, -1], beams.past)
        _extend(beams, logits.float().log_softmax(-1), model.config.eos_id)
    return [sorted(beam, key=lambda h: -h.normalised(length_penalty)) for beam in results]


def _first_beams(streams: int, beam_size: int, sos_id: int, device: torch.device) -> _Beams:
    """One live hypothesis per stream; the others score minus infinity until it has children."""
    scores = torch.full((streams, beam_size), -math.inf, device=device)
    scores[:, 0] = 0.0
    tokens = torch.full((streams, beam_size, 1), sos_id, device=device)
    return _Beams(tokens, scores, torch.zeros_like(scores, dtype=torch.bool))


def _extend(beams: _Beams, log_probs: Tensor, eos_id: int) -> None:
    """One more token for every hypothesis that has not ended; log_probs (S, N, V)."""
    streams, size = beams.scores.shape
    gains, choices = log_probs.topk(size, dim=-1)  # (S, N, N)
    # An ended hypothesis has one child: itself.
    only_itself = torch.full_like(gains[0, 0], -math.inf)
    only_itself[0] = 0.0
    gains = torch.where(beams.ended.unsqueeze(-1), only_itself, gains)
    choices = choices.masked_fill(beams.ended.unsqueeze(-1), eos_id)
    totals = (beams.scores.unsqueeze(-1) + gains).flatten(1)
    beams.scores, best = totals.topk(size, dim=-1)  # (S, N)
    parents = best // size
    token = choices.flatten(1).gather(1, best)
    tokens = beams.tokens.gather(1, parents.unsqueeze(-1).expand_as(beams.tokens))
    beams.tokens = torch.cat((tokens, token.unsqueeze(-1)), dim=-1)
    beams.ended = token == eos_id
    if beams.past is not None:
        streams_first = torch.arange(streams, device=parents.device).unsqueeze(1) * size
        beams.past = _select_past(beams.past, (parents + streams_first).flatten())


def _select_past(past: list[KeysAndValues], rows: Tensor) -> list[KeysAndValues]:
    return [(keys[rows], values[rows]) for keys, values in past]


def _hypothesis_rows(streams: Tensor, beam_size: int) -> Tensor:
    """Rows of streams (S,) where every stream has `beam_size` rows: (S * N,)."""
    places = torch.arange(beam_size, device=streams.device)
    return (streams.unsqueeze(1) * beam_size + places).flatten()


def _read_beam(beams: _Beams, row: int, eos_id: int) -> list[AttentionHypothesis]:
    """A beam without the places that were never filled."""
    found = zip(beams.tokens[row, :, 1:].tolist(), beams.scores[row].tolist(), strict=True)
    return [
        AttentionHypothesis(tuple(token for token in tokens if token != eos_id), score)
        for tokens, score in found
        if score > -math.inf
    ]
