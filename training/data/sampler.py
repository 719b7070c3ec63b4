"""What an epoch is made of: which recordings, joined how, in which batches.

A pure function of the seed and the epoch's number, so a run can go on anywhere in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from earshot.training.corpus.utterance import Utterance
from earshot.training.errors import RecipeError
from earshot.training.recipe.config import DataConfig

JOIN_SHARES = {
    1: 0.4,
    2: 0.15,
    3: 0.15,
    4: 0.15,
    5: 0.15,
}  # how many short clips make one utterance, and how often


FIRST_SHUFFLED_EPOCH = 2  # those before go roughly from short to long


@dataclass(frozen=True)
class Example:
    """One training utterance: recordings (indices) one after another, about `seconds` in all."""

    members: tuple[int, ...]
    seconds: float


@dataclass(frozen=True)
class Sampler:
    """Plans epochs over `utterances`."""

    utterances: Sequence[Utterance]
    data: DataConfig
    batch_seconds: float
    first_batch_seconds: float  # in the first epoch: many small updates leave the plateau soonest
    padding_seconds: float  # silence that augmentation adds to an utterance on average
    seed: int
    untranscribed: bool = False  # whether recordings are drawn whose text is unknown

    def _draws(self, rng: np.random.Generator, epoch: int) -> list[int]:
        """Indices of this epoch's recordings; 2.3 draws are two, and 30 % of them once more."""
        shares = self.data.draws_first_epoch if epoch == 0 else self.data.draws_per_epoch
        drawn: list[int] = []
        for index, utterance in enumerate(self.utterances):
            times = shares.get(utterance.corpus, 0.0)
            count = int(times) + int(rng.random() < times % 1)
            if (
                utterance.text or self.untranscribed
            ) and utterance.seconds <= self.data.max_seconds:
                drawn.extend([index] * count)
        return drawn

    def _joined(self, rng: np.random.Generator, indices: list[int]) -> Iterator[tuple[int, ...]]:
        """Cuts each speaker's shuffled clips into runs of random length."""
        by_speaker: dict[tuple[str, str], list[int]] = defaultdict(list)
        for index in rng.permutation(np.array(indices, dtype=np.int64)).tolist():
            by_speaker[self.utterances[index].corpus, self.utterances[index].speaker].append(index)
        sizes, shares = list(JOIN_SHARES), list(JOIN_SHARES.values())
        for clips in by_speaker.values():
            start = 0
            while start < len(clips):
                size = int(rng.choice(sizes, p=shares))
                run = clips[start : start + size]
                while (
                    len(run) > 1
                    and sum(self.utterances[i].seconds for i in run) > self.data.max_seconds
                ):
                    run.pop()
                start += len(run)
                yield tuple(run)

    def examples(self, epoch: int) -> list[Example]:
        """All examples of `epoch`, in no particular order."""
        rng = np.random.default_rng((self.seed, epoch))
        drawn = self._draws(rng, epoch)
        short = {i for i in drawn if self.utterances[i].corpus in self.data.joined_corpora}
        members: list[tuple[int, ...]] = [(i,) for i in drawn if i not in short]
        members.extend(self._joined(rng, [i for i in drawn if i in short]))
        return [
            Example(run, self.padding_seconds + sum(self.utterances[i].seconds for i in run))
            for run in members
        ]

    def batches(self, epoch: int) -> list[list[Example]]:
        """Batches of similar length and at most `batch_seconds`, padding included.

        The first two epochs go roughly from short to long (Amodei 2016, section 3.2, SortaGrad);
        the others are shuffled. Raises RecipeError if nothing is drawn.
        """
        rng = np.random.default_rng((self.seed, epoch, 1))
        examples = self.examples(epoch)
        if not examples:
            key = "draws_first_epoch" if epoch == 0 else "draws_per_epoch"
            raise RecipeError(f"data.{key}: it draws nothing of at most {self.data.max_seconds} s")
        jitter = rng.uniform(0.9, 1.1, size=len(examples))
        order = np.argsort([example.seconds for example in examples] * jitter, kind="stable")
        most = self.first_batch_seconds if epoch == 0 else self.batch_seconds
        batches: list[list[Example]] = [[]]
        longest = 0.0
        for position in order.tolist():
            example = examples[position]
            longest = max(longest, example.seconds)
            if batches[-1] and longest * (len(batches[-1]) + 1) > most:
                batches.append([])
                longest = example.seconds
            batches[-1].append(example)
        if epoch < FIRST_SHUFFLED_EPOCH:
            keys = [batch[-1].seconds * rng.uniform(0.7, 1.3) for batch in batches]
            return [batches[position] for position in np.argsort(keys, kind="stable")]
        return [batches[position] for position in rng.permutation(len(batches))]
