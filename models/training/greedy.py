"""Quick word error rates by CTC greedy search, in batches, for a look at a model in training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

import jiwer
import torch
from torch import Tensor

from models.tokenizer import Tokenizer
from models.training.batch import pad
from models.training.corpus import Utterance
from models.training.feature_cache import FeatureCache
from models.u2 import U2Model

BATCH_FRAMES = 6000


def collapse(frame_tokens: Sequence[int], blank_id: int) -> list[int]:
    """CTC's rule: merge repeats, then drop blanks."""
    return [token for token, _ in groupby(frame_tokens) if token != blank_id]


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


def greedy_tokens(model: U2Model, features: Tensor, lengths: Tensor, chunk_size: int) -> list[list[int]]:
    """CTC greedy search of padded features `(B, T, F)`, chunk-masked as if streamed."""
    encoded, encoded_lengths = model.encoder(features, lengths, chunk_size, -1)
    best = model.ctc_log_probs(encoded).argmax(dim=-1).tolist()
    return [collapse(row[:length], model.config.blank_id) for row, length in zip(best, encoded_lengths.tolist(), strict=True)]


@torch.no_grad()
def greedy_error_rates(
    model: U2Model, tokenizer: Tokenizer, utterances: Sequence[Utterance], cache: FeatureCache, chunk_size: int
) -> dict[str, float]:
    """Word error rate by corpus. Puts the model in evaluation mode."""
    model.eval()
    texts: dict[int, str] = {}
    least = model.encoder.right_context + 1
    counts = [cache.frame_count(index) for index in range(len(utterances))]
    for indices in length_batches(counts):
        usable = [index for index in indices if counts[index] >= least]
        texts.update({index: "" for index in indices})
        if not usable:
            continue
        batch = pad([cache[index] for index in usable], [[] for _ in usable])
        found = greedy_tokens(model, batch.features, batch.feature_lengths, chunk_size)
        texts.update({index: tokenizer.decode(tokens) for index, tokens in zip(usable, found, strict=True)})
    references: dict[str, list[str]] = defaultdict(list)
    hypotheses: dict[str, list[str]] = defaultdict(list)
    for index, utterance in enumerate(utterances):
        references[utterance.corpus].append(utterance.text)
        hypotheses[utterance.corpus].append(texts[index])
    return {corpus: jiwer.wer(references[corpus], hypotheses[corpus]) for corpus in references}
