"""From planned examples to the tensors of one update."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from models.training.augment import SILENCE, Augmenter, Features, spec_augment
from models.training.config import DataConfig
from models.training.corpus import Utterance
from models.training.feature_cache import FeatureCache
from models.training.sampler import Example

LONGEST_GAP_FRAMES = 40  # between joined clips
NARROW_CORPORA = frozenset({"fsdd"})  # 8 kHz recordings


@dataclass(frozen=True)
class Batch:
    """Padded features `(B, T, F)` with lengths `(B,)`, padded tokens `(B, U)` with lengths `(B,)`, seconds of audio."""

    features: Tensor
    feature_lengths: Tensor
    tokens: Tensor
    token_lengths: Tensor
    seconds: float


def pad(features: Sequence[Features], tokens: Sequence[Sequence[int]]) -> Batch:
    """Stacks utterances of different lengths, padded with zeros."""
    frames = [torch.from_numpy(rows) for rows in features]
    labels = [torch.tensor(ids, dtype=torch.int64) for ids in tokens]
    return Batch(
        torch.nn.utils.rnn.pad_sequence(frames, batch_first=True),
        torch.tensor([len(rows) for rows in frames]),
        torch.nn.utils.rnn.pad_sequence(labels, batch_first=True),
        torch.tensor([len(ids) for ids in labels]),
        sum(len(rows) for rows in frames) / 100,
    )


def ctc_length(tokens: Sequence[int]) -> int:
    """Frames that CTC needs at least: one a token, and one blank between equal neighbours."""
    return len(tokens) + sum(left == right for left, right in pairwise(tokens))


@dataclass(frozen=True)
class BatchBuilder:
    """Builds augmented batches. The same random generator gives the same batch."""

    cache: FeatureCache
    utterances: Sequence[Utterance]
    tokens: Sequence[Sequence[int]]
    data: DataConfig
    augmenter: Augmenter
    mean: npt.NDArray[np.float32]
    frames_needed: Callable[[int], int]  # feature frames that so many encoder frames need at least

    def _features(self, rng: np.random.Generator, example: Example) -> Features:
        parts: list[Features] = []
        for index in example.members:
            short = self.utterances[index].corpus in self.data.joined_corpora
            clip = self.augmenter.clip(rng, self.cache[index], short)
            if parts:
                gap = rng.integers(0, LONGEST_GAP_FRAMES + 1)
                parts.append(np.full((gap, clip.shape[1]), SILENCE, dtype=np.float32))
            parts.append(clip)
        narrow = self.utterances[example.members[0]].corpus in NARROW_CORPORA
        return self.augmenter.utterance(rng, np.concatenate(parts), narrow)

    def build(self, rng: np.random.Generator, examples: Sequence[Example], masked: bool) -> Batch:
        """One batch, SpecAugmented if `masked`; an utterance too short for its tokens is lengthened by silence."""
        features: list[Features] = []
        tokens: list[list[int]] = []
        for example in examples:
            labels = [token for index in example.members for token in self.tokens[index]]
            rows = self._features(rng, example)
            missing = self.frames_needed(ctc_length(labels)) - len(rows)
            if missing > 0:
                rows = np.pad(rows, ((0, missing), (0, 0)), mode="edge")
            if masked:
                rows = spec_augment(rng, rows, self.augmenter.config, self.mean)
            features.append(rows)
            tokens.append(labels)
        return pad(features, tokens)
