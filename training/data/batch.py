"""From planned examples to the tensors of one update."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.models.layers.subsampling import StemShape
from earshot.training.data.augment import SILENCE, Augmenter, Features, pad_silence, spec_augment
from earshot.training.data.sampler import Example
from earshot.training.data.speech import Speech
from earshot.training.recipe.config import DataConfig

LONGEST_GAP_FRAMES = 40  # between joined clips


@dataclass(frozen=True)
class CleanSound:
    """A row of a batch before noise, rooms and channel: samples `(N,)` in int16 range.

    They begin with the row, and end with the last word. members: the recordings in it.
    """

    samples: Tensor
    members: tuple[int, ...]
    speed: float


class CleanFeatures(NamedTuple):
    """Features `(B, T, F)` of a batch before noise, rooms and channel, and their numbers `(B,)`."""

    features: Tensor
    lengths: Tensor


@dataclass(frozen=True)
class Batch:
    """The tensors of one update, padded with zeros on the right.

    Features `(B, T, F)` and tokens `(B, U)` with lengths `(B,)`; seconds of audio in all; how the
    rows sounded before, where a teacher is to hear them, or its own features of that.
    """

    features: Tensor
    feature_lengths: Tensor
    tokens: Tensor
    token_lengths: Tensor
    seconds: float
    clean: Sequence[CleanSound] = ()
    clean_features: CleanFeatures | None = None

    def to(self, device: torch.device) -> Batch:
        """The same batch on `device`."""
        clean = self.clean_features
        return Batch(
            self.features.to(device),
            self.feature_lengths.to(device),
            self.tokens.to(device),
            self.token_lengths.to(device),
            self.seconds,
            self.clean,
            clean and CleanFeatures(*(each.to(device) for each in clean)),
        )


def pad_tokens(tokens: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token sequences as one tensor `(B, U)`, and their lengths `(B,)`."""
    labels = [torch.tensor(ids, dtype=torch.int64) for ids in tokens]
    lengths = torch.tensor([len(ids) for ids in labels])
    return pad_sequence(labels, batch_first=True), lengths


def pad(features: Sequence[Features], tokens: Sequence[Sequence[int]]) -> Batch:
    """Stacks utterances of different lengths."""
    frames = [torch.from_numpy(rows) for rows in features]
    return Batch(
        pad_sequence(frames, batch_first=True),
        torch.tensor([len(rows) for rows in frames]),
        *pad_tokens(tokens),
        sum(len(rows) for rows in frames) / 100,
    )


def with_flush(features: Features, right_context: int, silence: np.float32 = SILENCE) -> Features:
    """Features `(T, F)` and the silence after them without which an encoder hears no end.

    So does a stream's flush. silence: what all features of digital zeros are.
    """
    return np.pad(features, ((0, right_context), (0, 0)), constant_values=silence)


def ctc_length(tokens: Sequence[int]) -> int:
    """Frames that CTC needs at least: one a token, and one blank between equal neighbours."""
    return len(tokens) + sum(left == right for left, right in pairwise(tokens))


def least_frames(labels: Sequence[int], stem: StemShape) -> int:
    """Feature frames without which CTC has no alignment for `labels`."""
    return (ctc_length(labels) + 1) * stem.rate + stem.right_context


@dataclass(frozen=True)
class BatchBuilder:
    """Builds augmented batches. The same random generator gives the same batch."""

    speech: Speech
    tokens: Sequence[Sequence[int]]
    data: DataConfig
    augmenter: Augmenter
    mean: npt.NDArray[np.float32]
    stem: StemShape
    sped: Sequence[Speech] = ()  # the same utterances at other speeds

    def build(self, rng: np.random.Generator, examples: Sequence[Example], step: int) -> Batch:
        """The batch of update `step`: plain, augmented or SpecAugmented as the recipe says.

        What would be padding becomes silence to train on, before and after most utterances.
        """
        config = self.augmenter.config
        plain, masked = step < config.from_step, step >= config.spec_augment_from_step
        spoken = [self._spoken(rng, example, plain) for example in examples]
        longest = max(map(len, spoken)) + int(rng.integers(config.most_pad_frames + 1))
        features, tokens = [], []
        for example, speech in zip(examples, spoken, strict=True):
            labels = [token for index in example.members for token in self.tokens[index]]
            length = longest if rng.random() < config.pad_probability else 0
            rows = pad_silence(rng, speech, max(length, least_frames(labels, self.stem)))
            rows = self._channel(rng, rows, example, plain)
            features.append(self._masked(rng, rows, example) if masked else rows)
            tokens.append(labels)
        return pad(features, tokens)

    def _spoken(self, rng: np.random.Generator, example: Example, plain: bool) -> Features:
        """The example's recordings, each changed on its own, with gaps between them."""
        parts: list[Features] = []
        for index in example.members:
            clip = self._at_some_speed(rng, plain).features(index)
            if not plain:
                short = self.speech.utterances[index].corpus in self.data.joined_corpora
                clip = self.augmenter.clip(rng, clip, short)
            if parts:
                gap = rng.integers(LONGEST_GAP_FRAMES + 1)
                parts.append(np.full((gap, clip.shape[1]), SILENCE, dtype=np.float32))
            parts.append(clip)
        return np.concatenate(parts)

    def _at_some_speed(self, rng: np.random.Generator, plain: bool) -> Speech:
        if plain or not self.sped:
            return self.speech
        return (self.speech, *self.sped)[rng.integers(len(self.sped) + 1)]

    def _channel(
        self, rng: np.random.Generator, rows: Features, example: Example, plain: bool
    ) -> Features:
        if plain:
            return self.augmenter.quiet(rng, rows)
        narrow = self._corpus(example) in self.data.narrow_corpora
        return self.augmenter.utterance(rng, rows, narrow)

    def _masked(self, rng: np.random.Generator, rows: Features, example: Example) -> Features:
        whole = self._corpus(example) in self.data.whole_corpora
        return spec_augment(rng, rows, self.augmenter.config, self.mean, whole)

    def _corpus(self, example: Example) -> str:
        return self.speech.utterances[example.members[0]].corpus
