"""Quick word error rates by greedy search, in batches, for a look at a model in training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import jiwer
import torch
from torch import Tensor

from earshot.models.layers.ctc import collapse
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.u2.u2 import U2Model
from earshot.training.data.batch import Batch, pad, with_flush
from earshot.training.data.silence import silence_of
from earshot.training.data.speech import Speech
from earshot.training.measuring.greedy_labels import greedy_labels

Decode: TypeAlias = Callable[[U2Model, Tensor, Tensor, int], list[list[int]]]
"""From padded features `(B, T, F)`, their lengths `(B,)` and a chunk size to each row's tokens."""

BATCH_FRAMES = 6000

TAIL_S = 0.5
"""Silence after a recording for Whisper's decoder: where a memory ends with the last word it loses
that word, and segments of streams end later."""


def length_batches(frame_counts: Sequence[int]) -> Iterator[list[int]]:
    """Indices in batches of at most `BATCH_FRAMES` frames, padding included, short ones first."""
    batch: list[int] = []
    for index in sorted(range(len(frame_counts)), key=lambda i: frame_counts[i]):
        if batch and frame_counts[index] * (len(batch) + 1) > BATCH_FRAMES:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def heard_batch(model: U2Model, speech: Speech, indices: Sequence[int]) -> Batch:
    """Recordings with the silence after them that a stream would have; without tokens."""
    config = model.config.features
    tail = 0 if model.whisper_decoder is None else round(1000 * TAIL_S / config.frame_shift_ms)
    after, silence = model.encoder.right_context + tail, silence_of(config)
    rows = [with_flush(speech.features(index), after, silence) for index in indices]
    return pad(rows, [[] for _ in rows])


def greedy_tokens(
    model: U2Model, features: Tensor, lengths: Tensor, chunk_size: int
) -> list[list[int]]:
    """CTC greedy search of padded features `(B, T, F)`, chunk-masked as if streamed."""
    encoded, encoded_lengths = model.encoder(features, lengths, chunk_size, -1)
    best = model.ctc_log_probs(encoded).argmax(dim=-1).tolist()
    return [
        collapse(row[:length], model.config.blank_id)
        for row, length in zip(best, encoded_lengths.tolist(), strict=True)
    ]


def transducer_tokens(
    model: U2Model, features: Tensor, lengths: Tensor, chunk_size: int
) -> list[list[int]]:
    """The same by the transducer's head, of a model that has one."""
    assert model.transducer is not None
    head = model.transducer
    encoded, encoded_lengths = model.encoder(features, lengths, chunk_size, -1)
    rows = zip(encoded, encoded_lengths.tolist(), strict=True)
    return [greedy_labels(head, row[:length]) for row, length in rows]


@torch.no_grad()
def greedy_texts(
    model: U2Model,
    tokenizer: Tokenizer,
    speech: Speech,
    chunk_size: int,
    decode: Decode = greedy_tokens,
) -> list[str]:
    """What the model makes of each utterance; nothing of one too short for an encoder frame."""
    device = next(model.parameters()).device

    def tokens(indices: Sequence[int]) -> list[list[int]]:
        batch = heard_batch(model, speech, indices).to(device)
        return decode(model, batch.features, batch.feature_lengths, chunk_size)

    return texts_by(tokens, tokenizer, speech)


def texts_by(
    tokens: Callable[[Sequence[int]], list[list[int]]], tokenizer: Tokenizer, speech: Speech
) -> list[str]:
    """Texts of all utterances, nothing of one without a frame; `tokens` is given some at a time."""
    texts = [""] * len(speech)
    counts = [speech.frame_count(index) for index in range(len(speech))]
    usable = [index for index, count in enumerate(counts) if count]
    for places in length_batches([counts[index] for index in usable]):
        indices = [usable[place] for place in places]
        for index, found in zip(indices, tokens(indices), strict=True):
            texts[index] = tokenizer.decode(found)
    return texts


def greedy_error_rates(
    model: U2Model,
    tokenizer: Tokenizer,
    speech: Speech,
    chunk_size: int,
    decode: Decode = greedy_tokens,
) -> dict[str, float]:
    """Word error rate by corpus. Leaves the model in evaluation mode."""
    model.eval()
    return error_rates(speech, greedy_texts(model, tokenizer, speech, chunk_size, decode))


def error_rates(speech: Speech, texts: Sequence[str]) -> dict[str, float]:
    """Word error rate of the utterances' texts by corpus."""
    pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for utterance, text in zip(speech.utterances, texts, strict=True):
        pairs[utterance.corpus].append((utterance.text, text))
    return {
        corpus: jiwer.wer([said for said, _ in group], [found for _, found in group])
        for corpus, group in pairs.items()
    }
