"""From planned examples to the tensors of one update, by way of sound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from earshot.models.features.log_mel import LogMel
from earshot.models.layers.subsampling import StemShape
from earshot.training.data.augment import spec_augment
from earshot.training.data.batch import (
    LONGEST_GAP_FRAMES,
    Batch,
    CleanFeatures,
    CleanSound,
    least_frames,
    pad_tokens,
)
from earshot.training.data.lead import Leads
from earshot.training.data.sampler import Example
from earshot.training.data.speech import Speech
from earshot.training.data.speed import change_speed, sped_length
from earshot.training.recipe.config import DataConfig
from earshot.training.waveform.augmenter import SoundAugmenter


@dataclass(frozen=True)
class SoundBatchBuilder:
    """Does what `BatchBuilder` does, on the device that holds the recordings.

    The same random generator gives the same batch.
    """

    speech: Speech
    tokens: Sequence[Sequence[int]]
    data: DataConfig
    augmenter: SoundAugmenter
    fbank: LogMel
    mean: Tensor
    stem: StemShape
    leads: Leads | None = None  # silence before a recording, always the same; at random if absent
    teacher_fbank: LogMel | None = None  # of a teacher that hears each row as it was placed

    @torch.no_grad()
    def build(self, rng: np.random.Generator, examples: Sequence[Example], step: int) -> Batch:
        """The batch of update `step`: plain, augmented or SpecAugmented as the recipe says.

        What would be padding becomes silence to train on, before and after most utterances.
        """
        config = self.augmenter.config
        labels = [
            [token for i in example.members for token in self.tokens[i]] for example in examples
        ]
        plain = step < config.from_step
        speeds = self._speeds(rng, examples, plain)
        spoken = self._led(examples, speeds, self._spoken(rng, examples, speeds))
        lengths = self._lengths(rng, spoken, labels)
        waves = self._placed(rng, spoken, lengths)
        heard = self._heard_clean(waves, lengths)
        if plain:
            waves = self.augmenter.quiet(rng, waves)
        else:
            waves = self.augmenter.record(
                rng, waves, self._among(examples, self.data.narrow_corpora)
            )
        features = self.fbank.of_int16(waves)
        frames = [self.fbank.frame_count(length) for length in lengths]
        if step >= config.spec_augment_from_step:
            whole = self._among(examples, self.data.whole_corpora)
            for row, count, is_whole in zip(features, frames, whole, strict=True):
                spec_augment(rng, row[:count], config, self.mean, is_whole)
        clean = self._clean(examples, speeds, spoken)
        tokens, seconds = pad_tokens(labels), sum(frames) / 100
        return Batch(features, torch.tensor(frames), *tokens, seconds, clean, heard)

    def _heard_clean(self, waves: Tensor, lengths: Sequence[int]) -> CleanFeatures | None:
        fbank = self.teacher_fbank
        if fbank is None:
            return None
        counts = torch.tensor([fbank.frame_count(length) for length in lengths])
        return CleanFeatures(fbank.of_int16(waves), counts)

    def _among(self, examples: Sequence[Example], corpora: Sequence[str]) -> list[bool]:
        return [self.speech.utterances[row.members[0]].corpus in corpora for row in examples]

    def _speeds(
        self, rng: np.random.Generator, examples: Sequence[Example], plain: bool
    ) -> list[float]:
        if plain:
            return [1.0] * len(examples)
        return [self.augmenter.speed(rng, self._is_short(example)) for example in examples]

    def _spoken(
        self, rng: np.random.Generator, examples: Sequence[Example], speeds: Sequence[float]
    ) -> list[Tensor]:
        """Each example's recordings with gaps between them, at its speed."""
        joined = [self._joined(rng, example) for example in examples]
        spoken = list(joined)
        for speed in sorted(set(speeds)):
            rows = [row for row, its in enumerate(speeds) if its == speed]
            waves = pad_sequence([joined[row] for row in rows], batch_first=True)
            for row, wave in zip(rows, change_speed(waves, speed), strict=True):
                spoken[row] = wave[: sped_length(len(joined[row]), speed)]
        return spoken

    def _led(
        self, examples: Sequence[Example], speeds: Sequence[float], spoken: Sequence[Tensor]
    ) -> list[Tensor]:
        """Each row with the silence before it, where that is always the same."""
        if self.leads is None:
            return list(spoken)
        leads = [
            self.leads.samples(self.speech.utterances[example.members[0]], speed)
            for example, speed in zip(examples, speeds, strict=True)
        ]
        return [functional.pad(wave, (lead, 0)) for wave, lead in zip(spoken, leads, strict=True)]

    def _clean(
        self, examples: Sequence[Example], speeds: Sequence[float], spoken: Sequence[Tensor]
    ) -> list[CleanSound]:
        if self.leads is None:
            return []
        return [
            CleanSound(wave, example.members, speed)
            for wave, example, speed in zip(spoken, examples, speeds, strict=True)
        ]

    def _joined(self, rng: np.random.Generator, example: Example) -> Tensor:
        parts: list[Tensor] = []
        for index in example.members:
            clip = self.augmenter.speech[index]
            if parts:
                gap = int(rng.integers(LONGEST_GAP_FRAMES + 1)) * self.fbank.frame_shift
                parts.append(clip.new_zeros(gap))
            parts.append(clip)
        return torch.cat(parts)

    def _is_short(self, example: Example) -> bool:
        return self.speech.utterances[example.members[0]].corpus in self.data.joined_corpora

    def _lengths(
        self,
        rng: np.random.Generator,
        spoken: Sequence[Tensor],
        labels: Sequence[Sequence[int]],
    ) -> list[int]:
        """Samples of each row: what is spoken, what CTC needs, and silence about most of it."""
        config, shift = self.augmenter.config, self.fbank.frame_shift
        longest = max(map(len, spoken)) + int(rng.integers(config.most_pad_frames + 1)) * shift
        lengths = []
        for wave, ids in zip(spoken, labels, strict=True):
            least = (least_frames(ids, self.stem) - 1) * shift + self.fbank.frame_length
            padded = longest if rng.random() < config.pad_probability else 0
            lengths.append(max(len(wave), least, padded))
        return lengths

    def _placed(
        self, rng: np.random.Generator, spoken: Sequence[Tensor], lengths: Sequence[int]
    ) -> Tensor:
        """Rows `(B, N)` with each utterance somewhere in the first `lengths` samples of its own."""
        waves = spoken[0].new_zeros(len(spoken), max(lengths))
        for row, (wave, length) in enumerate(zip(spoken, lengths, strict=True)):
            room = 0 if self.leads is not None else length - len(wave)
            before = int(rng.integers(room + 1))
            waves[row, before : before + len(wave)] = wave
        return waves
